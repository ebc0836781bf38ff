package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// variants has a manifest of each workload.
var variants = map[spec.Variant]string{
	spec.VariantPut:                `{type: Put, put: {}}`,
	spec.VariantRangeWhole:         `{type: Range, range: {consistency: CONSISTENCY}}`,
	spec.VariantRangePages:         `{type: Range, range: {consistency: CONSISTENCY, delivery: Pages, keysPerRequest: 10, keysPerPage: 5, keys: {count: 100}}}`,
	spec.VariantRangeStream:        `{type: Range, range: {consistency: CONSISTENCY, delivery: Stream, keysPerRequest: 10, keys: {count: 100}}}`,
	spec.VariantMixed:              `{type: Mixed, mixed: {consistency: CONSISTENCY, readPercent: 50}}`,
	spec.VariantMixedInTransaction: `{type: Mixed, mixed: {consistency: CONSISTENCY, readPercent: 50, inTransaction: true}}`,
	spec.VariantDelete:             `{type: Delete, delete: {}}`,
	spec.VariantTxnPuts:            `{type: Txn, txn: {putsPerTransaction: 2, keys: {count: 200}}}`,
	spec.VariantTxnCompareAndSwap:  `{type: Txn, txn: {mode: CompareAndSwap}}`,
	spec.VariantSTM:                `{type: STM, stm: {}}`,
	spec.VariantLock:               `{type: Lock, lock: {}}`,
	spec.VariantElection:           `{type: Election, election: {}}`,
	spec.VariantLeaseGrant:         `{type: Lease, lease: {operation: Grant}}`,
	spec.VariantLeaseKeepAlive:     `{type: Lease, lease: {operation: KeepAlive, keepAlive: {}}}`,
	spec.VariantLeaseRevoke:        `{type: Lease, lease: {operation: Revoke}}`,
	spec.VariantWatch:              `{type: Watch, watch: {}}`,
	spec.VariantWatchGet:           `{type: WatchGet, watchGet: {}}`,
	spec.VariantKubernetes:         `{type: Kubernetes, kubernetes: {profile: Small}}`,
	spec.VariantFetchFragmented:    `{type: Fetch, fetch: {consistency: CONSISTENCY, layout: Fragmented}}`,
	spec.VariantFetchBlob:          `{type: Fetch, fetch: {consistency: CONSISTENCY, layout: Blob}}`,
	spec.VariantFetchFlat:          `{type: Fetch, fetch: {consistency: CONSISTENCY, layout: Flat}}`,
	spec.VariantAppend:             `{type: Append, append: {}}`,
	spec.VariantObserve:            `{type: Observe}`,
	spec.VariantFetchTree:          `{type: Fetch, fetch: {consistency: CONSISTENCY, layout: Tree}}`,
}

// valuesOf returns every value of the settings that a store may restrict. The schema has the values of each enumeration.
func valuesOf(t *testing.T, s *Schema[v1alpha1.EtcdBenchmark]) (all []value) {
	t.Helper()
	object := s.structural.Properties["spec"]
	all = append(all, loads(t, enumOf(t, object, "load.transport"), enumOf(t, object, "workload.type"))...)
	all = append(all, sharing(enumOf(t, object, "load.transport"))...)
	all = append(all, distributions(enumOf(t, object, "workload.put.keys.distribution"))...)
	all = append(all, limits()...)
	all = append(all, reads(enumOf(t, object, "load.transport"))...)
	all = append(all, transactions()...)
	all = append(all, consistencies(enumOf(t, object, "workload.range.consistency"))...)
	all = append(all, leases()...)
	all = append(all, contests()...)
	all = append(all, simple("a session time-out", "spec.load.sessionTimeoutSeconds", "load.sessionTimeoutSeconds",
		func(row spec.Store) bool { return row.SessionTimeout }, "load.sessionTimeoutSeconds", "1"))
	all = append(all, targets(enumOf(t, object, "target.members"))...)
	for _, name := range enumOf(t, object, "disturbances.type") {
		kind := spec.DisturbanceType(name)
		text := "[{type: " + name + ", everySeconds: 1}]"
		if kind == spec.DisturbanceLeaseExpiry {
			text = "[{type: " + name + ", everySeconds: 1, leaseExpiry: {}}]"
		}
		all = append(all, simple("disturbance "+name, "spec.disturbances", "disturbances.type",
			func(row spec.Store) bool { return slices.Contains(row.Disturbances, kind) }, "disturbances", text, "guard", "{allowStoreWide: true}"))
	}
	rules := object.Properties["guard"].Properties["stopOn"].Properties
	if len(rules) != len(spec.GuardRules()) {
		t.Errorf("wanted a rule of the guard for each field of guard.stopOn, found %d fields", len(rules))
	}
	for _, rule := range spec.GuardRules() {
		field := strings.ToLower(string(rule[:1])) + string(rule[1:])
		if rule == spec.GuardWALFsync {
			field = "walFsync"
		}
		setting := map[spec.GuardRule]string{spec.GuardDatabaseSize: "{maxBytes: 1}", spec.GuardErrorRatio: "{maxPerMillion: 1}", spec.GuardWALFsync: "{maxMeanMicroseconds: 1}"}[rule]
		if _, known := rules[field]; !known {
			t.Errorf("guard.stopOn has no field %s", field)
		}
		if setting == "" {
			setting = "true"
		}
		all = append(all, simple("rule "+field, "spec.guard.stopOn", "guard.stopOn",
			func(row spec.Store) bool { return slices.Contains(row.StopRules, rule) }, "guard.stopOn.alarm", "false", "guard.stopOn.quota", "false", "guard.stopOn."+field, setting))
	}
	for _, name := range enumOf(t, object, "objectives.type") {
		all = append(all, objective(t, name))
	}
	return append(all, presets(enumOf(t, object, "profile"))...)
}

// enumOf returns the values of an enumeration at a path, which may lead through lists.
func enumOf(t *testing.T, s schema.Structural, path string) (values []string) {
	t.Helper()
	for field := range strings.SplitSeq(path, ".") {
		if s.Items != nil {
			s = *s.Items
		}
		s = s.Properties[field]
	}
	if s.ValueValidation == nil || len(s.ValueValidation.Enum) == 0 {
		t.Fatalf("spec.%s has no enumeration", path)
	}
	for _, v := range s.ValueValidation.Enum {
		values = append(values, fmt.Sprint(v.Object))
	}
	return values
}

// loads are all workloads over all transports.
func loads(t *testing.T, transports, types []string) (all []value) {
	for _, name := range types {
		if !slices.ContainsFunc(spec.Variants(), func(v spec.Variant) bool { return strings.HasPrefix(string(v)+" ", name+" ") }) {
			t.Errorf("the workload %s has no variant", name)
		}
	}
	for _, variant := range spec.Variants() {
		for _, name := range transports {
			transport := spec.Transport(name)
			edits := map[string]string{"workload": variants[variant], "load.transport": name}
			if strings.HasPrefix(string(variant), "Fetch") {
				edits["load"] = "{}"
			}
			if variant == spec.VariantObserve {
				edits["load"] = "{durationSeconds: 1}"
			}
			all = append(all, value{string(variant) + " over " + name, edits,
				func(_ spec.Datastore, row spec.Store) []condition {
					return []condition{
						{"spec.workload", "workload", slices.Contains(row.Workloads, variant)},
						{"spec.load.transport", "load.transport", slices.Contains(row.Transports, transport)},
						{"spec.load.transport", "load.transport", slices.Contains(transport.Workloads(), variant)},
						{"spec.load.transport", "load.transport", transport.AnyMembers()},
					}
				}})
		}
	}
	return all
}

// sharing are two clients on one connection, and on one each, over all transports. On a transport that carries the base of no
// store, the workload is refused, too.
func sharing(transports []string) (all []value) {
	for _, name := range transports {
		transport := spec.Transport(name)
		for _, connections := range []string{"1", "2"} {
			edits := map[string]string{"load.transport": name, "load.clients": "2", "load.connections": connections}
			all = append(all, value{"2 clients on " + connections + " over " + name, edits, func(d spec.Datastore, row spec.Store) []condition {
				return []condition{
					{"spec.load.transport", "load.transport", slices.Contains(row.Transports, transport)},
					{"spec.load.transport", "load.transport", slices.ContainsFunc(transport.Workloads(), func(v spec.Variant) bool { return variants[v] == bases[d] })},
					{"spec.load.transport", "load.transport", transport.AnyMembers()},
					{"spec.load.clients", "load.clients", connections == "2" || row.Multiplexed && transport.Multiplexed()},
					// A folder has one connection for each pod.
					{"spec.load.connections", "load.connections", connections == "1" || !row.Folder},
				}
			}})
		}
	}
	return all
}

// distributions are all orders of keys, of all workloads that choose keys.
func distributions(names []string) (all []value) {
	for variant, settings := range map[spec.Variant]string{
		spec.VariantPut: "put: {overwrite: true, ", spec.VariantRangeWhole: "range: {consistency: CONSISTENCY, ", spec.VariantMixed: "mixed: {consistency: CONSISTENCY, readPercent: 50, ",
		spec.VariantDelete: "delete: {", spec.VariantTxnPuts: "txn: {putsPerTransaction: 2, overwrite: true, ", spec.VariantSTM: "stm: {", spec.VariantWatch: "watch: {", spec.VariantWatchGet: "watchGet: {",
	} {
		for _, name := range names {
			if variant == spec.VariantDelete && name != "Sequential" && name != "Uniform" {
				continue // Each request deletes another key.
			}
			extra := map[string]string{"Zipf": ", zipf: {}", "HotSpot": ", hotSpot: {keysPerMillion: 200000, requestsPerMillion: 800000}"}[name]
			text := fmt.Sprintf("{type: %s, %skeys: {count: 100, distribution: %s%s}}}", variant, settings, name, extra)
			all = append(all, value{string(variant) + " of keys " + name, map[string]string{"workload": text}, func(_ spec.Datastore, row spec.Store) []condition {
				if !slices.Contains(row.Keys.Distributions, spec.Distribution(name)) {
					return []condition{{"spec.workload", "keys.distribution", false}}
				}
				return []condition{{"spec.workload", "workload", slices.Contains(row.Workloads, variant)}}
			}})
		}
	}
	return all
}

// limits are lengths and numbers of keys, lengths of values, and loads that write keys again, on both sides of the limits
// of every row.
func limits() (all []value) {
	puts := func(name, plan, keys, values, load string, within func(spec.KeyLimits) bool) {
		edits := map[string]string{"workload": fmt.Sprintf("{type: Put, put: {keys: {%s}, values: {sizeBytes: %s}}}", keys, values), "load": load}
		all = append(all, value{name, edits, func(d spec.Datastore, row spec.Store) []condition {
			// A known store without puts refuses only the workload, not its settings, too.
			puts := slices.Contains(row.Workloads, spec.VariantPut)
			return []condition{{"spec.workload", "workload", puts}, {"spec.workload", plan, within(row.Keys) || !puts && d != lake}}
		}})
	}
	few := "{requests: 100}"
	for _, d := range spec.Datastores() {
		row, _ := d.Store()
		for _, more := range []int64{0, 1} {
			if size := int64(row.Keys.MinSizeBytes) - more; size > 0 {
				puts(fmt.Sprintf("keys of %d bytes", size), "keys", fmt.Sprintf("count: 10, sizeBytes: %d", size), "1", "{requests: 10}",
					func(l spec.KeyLimits) bool { return size >= int64(l.MinSizeBytes) && l.MaxCount > 0 })
			}
			if count := row.Keys.MaxCount + more; count > 1 && count <= spec.MaxKeys {
				puts(fmt.Sprintf("%d keys", count), "keys", fmt.Sprintf("count: %d, sizeBytes: 9", count), "1", few,
					func(l spec.KeyLimits) bool { return count <= l.MaxCount })
			}
			if size := int64(row.Keys.MaxValueBytes) + more; size > 1 && size <= spec.MaxRequestBytes {
				puts(fmt.Sprintf("values of %d bytes", size), "values.sizeBytes", "count: 1000", fmt.Sprint(size), few,
					func(l spec.KeyLimits) bool { return size <= int64(l.MaxValueBytes) })
			}
		}
	}
	rewrites := func(l spec.KeyLimits) bool { return l.Rewrites }
	puts("keys in another order", "keys.distribution", "count: 100, distribution: Uniform", "1", few, rewrites)
	puts("keys written again", "load.requests", "count: 10", "1", "{requests: 11}", rewrites)
	puts("a duration", "load.requests", "count: 10", "1", "{durationSeconds: 1}", rewrites)
	puts("a warm-up", "load.warmupSeconds", "count: 100", "1", "{requests: 10, warmupSeconds: 1}", rewrites)
	return all
}

// reads are reads of one key and of several, over all transports.
func reads(transports []string) (all []value) {
	for name, settings := range map[string]string{"one key": "keysPerRequest: 1", "two keys": "keysPerRequest: 2", "names of keys": "keysOnly: true", "a number of keys": "countOnly: true"} {
		for _, over := range transports {
			transport := spec.Transport(over)
			edits := map[string]string{"workload": "{type: Range, range: {consistency: CONSISTENCY, keys: {count: 10}, " + settings + "}}", "load.transport": over}
			all = append(all, value{"reads of " + name + " over " + over, edits, func(d spec.Datastore, row spec.Store) []condition {
				reads := slices.Contains(row.Workloads, spec.VariantRangeWhole)
				return []condition{
					{"spec.workload", "workload", reads}, {"spec.workload.range", "workload.range", name == "one key" || row.Keys.Ranges || !reads && d != lake},
					{"spec.workload.range", "workload.range", name == "one key" || transport.Ranges()},
					{"spec.load.transport", "load.transport", slices.Contains(row.Transports, transport)},
					{"spec.load.transport", "load.transport", slices.Contains(transport.Workloads(), spec.VariantRangeWhole)},
					{"spec.load.transport", "load.transport", transport.AnyMembers()},
				}
			}})
		}
	}
	return all
}

// transactions are transactions of puts, on both sides of the limits of every row.
func transactions() (all []value) {
	puts := func(name, settings string, within func(row spec.Store) bool, field, plan string) {
		edits := map[string]string{"workload": "{type: Txn, txn: {" + settings + "}}"}
		all = append(all, value{name, edits, func(d spec.Datastore, row spec.Store) []condition {
			sends := slices.Contains(row.Workloads, spec.VariantTxnPuts)
			return []condition{{"spec.workload", "workload", sends}, {field, plan, within(row) || !sends && d != lake}}
		}})
	}
	for name, size := range map[string]struct{ puts, value int }{
		"63 puts": {63, 256}, "64 puts": {64, 256}, "256 KiB": {256, 632}, "more than 256 KiB": {256, 633}, "10 MiB": {1000, 10_000},
		"512 KiB in base64": {32, 11_994}, "more than 512 KiB in base64": {32, 11_995},
	} {
		settings := fmt.Sprintf("overwrite: true, putsPerTransaction: %d, keys: {count: 1000, sizeBytes: 8}, values: {sizeBytes: %d}", size.puts, size.value)
		puts("transactions of "+name, settings, func(row spec.Store) bool {
			return row.Keys.Txn.Accept(size.puts, spec.Keys{SizeBytes: 8}, spec.Values{SizeBytes: int32(size.value)})
		}, "spec.workload.txn", "workload.txn")
	}
	rewrites := func(row spec.Store) bool { return row.Keys.Rewrites }
	all2 := "putsPerTransaction: 2, values: {sizeBytes: 1}, keys: "
	puts("transactions of keys written again", all2+"{count: 199}", rewrites, "spec.workload", "load.requests")
	puts("transactions of keys in another order", all2+"{count: 200, distribution: Uniform}", rewrites, "spec.workload", "keys.distribution")
	puts("transactions that overwrite", "overwrite: true, "+all2+"{count: 10, distribution: Uniform}", func(row spec.Store) bool { return row.Keys.Txn.MaxPuts > 0 }, "spec.workload.txn", "workload.txn")
	return all
}

// consistencies are those of all reads.
func consistencies(names []string) (all []value) {
	for variant, settings := range map[spec.Variant]string{spec.VariantRangeWhole: "range: {", spec.VariantMixed: "mixed: {readPercent: 50, "} {
		for _, name := range names {
			edits := map[string]string{"workload": fmt.Sprintf("{type: %s, %sconsistency: %s}}", variant, settings, name)}
			all = append(all, value{string(variant) + " " + name, edits, func(d spec.Datastore, row spec.Store) []condition {
				reads := slices.Contains(row.Workloads, variant)
				return []condition{{"spec.workload", "workload", reads},
					{"spec.workload", "workload.consistency", slices.Contains(row.Consistencies, spec.Consistency(name)) || !reads && d != lake}}
			}})
		}
	}
	return all
}

// contests are numbers of names and of clients on a connection, on both sides of the limits of every row.
func contests() (all []value) {
	for kind, variant := range map[string]spec.Variant{"lock": spec.VariantLock, "election": spec.VariantElection} {
		for _, size := range []struct{ names, clients, connections int32 }{{1000, 1000, 1000}, {1001, 1001, 1001}, {1, 400, 2}, {1, 401, 2}, {2, 20_000, 100}, {2, 20_001, 101}} {
			edits := map[string]string{
				"workload": fmt.Sprintf("{type: %s, %s: {names: %d}}", variant, kind, size.names),
				"load":     fmt.Sprintf("{durationSeconds: 10, clients: %d, connections: %d}", size.clients, size.connections),
			}
			all = append(all, value{fmt.Sprintf("%v %s", variant, fmt.Sprint(size)), edits, func(d spec.Datastore, row spec.Store) []condition {
				contends := slices.Contains(row.Workloads, variant)
				within := row.Contest.Accept(int(size.names), int(size.clients), int(size.connections))
				return []condition{{"spec.workload", "workload", contends}, {"spec.workload", "workload.names", within || !contends && d != lake},
					{"spec.load.clients", "load.clients", row.Multiplexed || size.clients == size.connections}}
			}})
		}
	}
	return all
}

// leases are the times to live and the numbers of leases, on both sides of the limits of every row.
func leases() (all []value) {
	for _, n := range []int64{100_000, 100_001, spec.MaxLeases} {
		for name, edits := range map[string]map[string]string{
			"granted":                {"workload": "{type: Lease, lease: {operation: Grant}}", "load": fmt.Sprintf("{requests: %d}", n)},
			"granted with a warm-up": {"workload": "{type: Lease, lease: {operation: Grant}}", "load": fmt.Sprintf("{requests: %d, warmupSeconds: 10, rate: {perSecond: 1000}}", n-10_000), "timeoutSeconds": "2000"},
			"revoked":                {"workload": "{type: Lease, lease: {operation: Revoke}}", "load": fmt.Sprintf("{requests: %d}", n)},
			"renewed":                {"workload": fmt.Sprintf("{type: Lease, lease: {operation: KeepAlive, keepAlive: {leases: %d}}}", n)},
		} {
			all = append(all, value{fmt.Sprintf("%d leases %s", n, name), edits, func(d spec.Datastore, row spec.Store) []condition {
				grants := slices.Contains(row.Workloads, spec.VariantLeaseGrant)
				return []condition{{"spec.workload", "workload", grants}, {"spec.workload.lease", "workload.lease", n <= row.MaxLeases || !grants && d != lake}}
			}})
		}
	}
	for _, seconds := range []int64{1, 9, 10, 86_400, 86_401, spec.MaxLeaseTTL} {
		edits := map[string]string{"workload": fmt.Sprintf("{type: Lease, lease: {operation: Grant, ttlSeconds: %d}}", seconds)}
		all = append(all, value{fmt.Sprintf("leases of %d s", seconds), edits, func(d spec.Datastore, row spec.Store) []condition {
			grants := slices.Contains(row.Workloads, spec.VariantLeaseGrant)
			within := seconds >= row.LeaseTTL.Least && seconds <= row.LeaseTTL.Most
			return []condition{{"spec.workload", "workload", grants}, {"spec.workload.lease.ttlSeconds", "workload.lease.ttlSeconds", within || !grants && d != lake}}
		}})
	}
	return all
}

// targets are the settings of spec.target.
func targets(members []string) []value {
	all := []value{
		simple("TLS", "spec.target.tls", "target.tls", func(row spec.Store) bool { return row.TLS }, "target.tls", "{secretName: a}"),
		simple("a user", "spec.target.auth", "target.auth", func(row spec.Store) bool { return len(row.Auth) > 0 }, "target.auth", "{secretName: a}"),
		{"two addresses", map[string]string{"target.endpoints": `["a:1", "b:1"]`}, func(_ spec.Datastore, row spec.Store) []condition {
			return []condition{{"spec.target.endpoints", "target.endpoints", row.Addresses}, {"spec.target", "target.endpoints", !row.Folder}}
		}},
	}
	for _, name := range members {
		all = append(all, simple("members "+name, "spec.target.members", "target.members",
			func(row spec.Store) bool { return slices.Contains(row.Members, spec.MemberSelection(name)) }, "target.members", name))
	}
	all = append(all, simple("one member alone", "spec.target.memberIndex", "target.memberIndex", func(row spec.Store) bool { return row.MemberIndex }, "target.memberIndex", "0"))
	for _, prefix := range []string{"bench/nightly/", "/bench/a.b/", "a//b/", "../a/", "a+b/", "/zookeeper/a/", "zookeepers/a/"} {
		all = append(all, simple("prefix "+prefix, "spec.target.keyPrefix", "prefix",
			func(row spec.Store) bool { return row.KeyPrefix.Accept(prefix) }, "target.keyPrefix", prefix))
	}
	return all
}

func objective(t *testing.T, name string) value {
	settings, known := map[spec.ObjectiveType]string{
		spec.ObjectiveLatency: "", spec.ObjectiveThroughput: "throughput: {minPerSecond: 1}", spec.ObjectiveErrorRatio: "errorRatio: {maxPerMillion: 1}",
		spec.ObjectiveAchievedRate: "achievedRate: {minPercent: 1}", spec.ObjectiveStartSkew: "startSkew: {maxMicroseconds: 1000}",
		spec.ObjectiveWALFsync: "walFsync: {statistic: P99, maxMicroseconds: 1}", spec.ObjectiveBackendCommit: "backendCommit: {statistic: P99, maxMicroseconds: 1}",
		spec.ObjectivePeerRoundTrip: "peerRoundTrip: {statistic: P99, maxMicroseconds: 1}", spec.ObjectiveLeaderChanges: "leaderChanges: {max: 1}",
		spec.ObjectiveSlowApplies: "slowApplies: {max: 1}", spec.ObjectiveFailedProposals: "failedProposals: {max: 1}",
		spec.ObjectiveMemberMemory: "memberMemory: {maxBytes: 1}", spec.ObjectiveMemberCPU: "memberCPU: {maxMillicores: 1}", spec.ObjectiveDatabaseGrowth: "databaseGrowth: {maxBytes: 1}",
	}[spec.ObjectiveType(name)]
	if !known {
		t.Errorf("there is no example of an objective of type %s", name)
	}
	if settings == "" {
		settings = "latency: {operation: OPERATION, statistic: P99, maxMicroseconds: 1}"
	}
	return simple("objective "+name, "spec.objectives", "objectives.type",
		func(row spec.Store) bool { return slices.Contains(row.Objectives, spec.ObjectiveType(name)) }, "objectives", "[{name: a, type: "+name+", "+settings+"}]")
}

// presets replace workload, load and objectives, and are supported where these are.
func presets(profiles []string) (all []value) {
	preset := func(field, text string, run v1alpha1.EtcdBenchmarkSpec) {
		resolved := (&v1alpha1.EtcdBenchmark{Spec: run}).Resolved()
		edits := map[string]string{"workload": "", "load": "", field: text}
		all = append(all, value{field + " " + text, edits, func(_ spec.Datastore, row spec.Store) []condition {
			return []condition{{"spec." + field, "", slices.Contains(row.Workloads, resolved.Workload.Variant()) &&
				(resolved.Workload.Put == nil || row.Keys.Rewrites)}}
		}})
	}
	for _, name := range profiles {
		preset("profile", name, v1alpha1.EtcdBenchmarkSpec{Profile: v1alpha1.Profile(name)})
	}
	preset("kubernetes", "{nodes: 50}", v1alpha1.EtcdBenchmarkSpec{Kubernetes: &v1alpha1.KubernetesCluster{Nodes: 50}})
	return all
}
