package v1alpha1_test

import "testing"

const (
	nodes     = `{type: Put, put: {keys: {count: 1000, sizeBytes: 8, distribution: Sequential}, values: {sizeBytes: 64}}}`
	zooKeeper = `{datastore: ZooKeeper, endpoints: ["a:2181"]}`
)

func TestAdmissionAcceptsZooKeeper(t *testing.T) {
	for name, edits := range map[string][]edit{
		"each znode once": {},
		"a prefix":        {{"spec.target.keyPrefix", `/bench/a.b/`}},
		"a rate":          {{"spec.load", `{requests: 1000, rate: {perSecond: 100}}`}},
		"overwrites":      {{"spec.workload", `{type: Put, put: {overwrite: true, keys: {count: 10, distribution: Zipf, zipf: {}}}}`}, {"spec.load", `{durationSeconds: 10, warmupSeconds: 5}`}},
		"sync and read":   {{"spec.workload", `{type: Range, range: {consistency: SyncRead}}`}, {"spec.load", `{durationSeconds: 10}`}},
		"one server":      {{"spec.workload", `{type: Mixed, mixed: {readPercent: 50, consistency: Serializable}}`}, {"spec.load", `{durationSeconds: 10, sessionTimeoutSeconds: 300}`}},
		"transactions":    {{"spec.workload", `{type: Txn, txn: {putsPerTransaction: 10, keys: {count: 10000, distribution: Sequential}}}`}},
		"a user over TLS": {{"spec.target", `{datastore: ZooKeeper, endpoints: ["a:2281"], auth: {secretName: a}, tls: {secretName: b}}`}},
		"a limit":         {{"spec.objectives", `[{name: a, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 1}}, {name: b, type: LeaderChanges, leaderChanges: {max: 0}}]`}},
		"a rule":          {{"spec.guard", `{stopOn: {leaderChange: true}}`}},
		"the most values": {{"spec.workload", `{type: Put, put: {keys: {count: 10000000, sizeBytes: 8, distribution: Sequential}, values: {sizeBytes: 1000000}}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			wantTaken(t, append([]edit{{"spec.target", zooKeeper}, {"spec.workload", nodes}, {"spec.load", `{requests: 1000}`}}, edits...)...)
		})
	}
}

// Settings that ZooKeeper does not support are refused, and the message names the field.
func TestAdmissionRejectsForZooKeeper(t *testing.T) {
	for name, tc := range map[string]struct{ field, value, want string }{
		"another workload":         {"spec.workload", `{type: STM, stm: {}}`, "spec.workload: Invalid value: must be Put, Range with delivery Whole, Mixed without inTransaction, Delete, Txn, Lock, Election, or Fetch with layout Fragmented or Blob for target.datastore ZooKeeper, found type STM"},
		"pages of a range":         {"spec.workload", `{type: Range, range: {consistency: Serializable, delivery: Pages, keys: {count: 10}}}`, "target.datastore ZooKeeper, found type Range with delivery Pages"},
		"reads in transactions":    {"spec.workload", `{type: Mixed, mixed: {readPercent: 50, consistency: Serializable, inTransaction: true}}`, "target.datastore ZooKeeper, found type Mixed with inTransaction"},
		"keys written again":       {"spec.workload", `{type: Put, put: {keys: {count: 1000, distribution: Uniform}}}`, "spec.workload: Invalid value: creates each key once for target.datastore ZooKeeper: set overwrite: true"},
		"transactions of old keys": {"spec.workload", `{type: Txn, txn: {putsPerTransaction: 10}}`, "creates each key once"},
		"large transactions":       {"spec.workload", `{type: Txn, txn: {putsPerTransaction: 700, overwrite: true}}`, "spec.workload.txn: Invalid value: is too large for target.datastore ZooKeeper"},
		"too many contenders":      {"spec.workload", `{type: Lock, lock: {names: 1001}}`, "names must be at most 1000, and load.clients at most 200 times load.connections"},
		"pages":                    {"spec.workload", `{type: Range, range: {consistency: Serializable, keysPerRequest: 2, keys: {count: 10}}}`, "spec.workload.range: Invalid value: for target.datastore ZooKeeper, keysPerRequest must be 1"},
		"a quorum":                 {"spec.workload", `{type: Range, range: {}}`, "spec.workload: Invalid value: consistency must be Serializable or SyncRead for target.datastore ZooKeeper (default Linearizable)"},
		"the leader's reads":       {"spec.workload", `{type: Mixed, mixed: {readPercent: 50, consistency: Leader}}`, "spec.workload: Invalid value: consistency must be Serializable or SyncRead for target.datastore ZooKeeper"},
		"short names":              {"spec.workload", `{type: Put, put: {keys: {count: 1000, sizeBytes: 3, distribution: Sequential}}}`, "of at least 4 bytes"},
		"too many nodes":           {"spec.workload", `{type: Put, put: {keys: {count: 10000001, sizeBytes: 8, distribution: Sequential}}}`, "at most 10000000 keys"},
		"too large a value":        {"spec.workload", `{type: Put, put: {keys: {count: 1000, distribution: Sequential}, values: {sizeBytes: 1000001}}}`, "values of at most 1000000 bytes"},
		"more requests than nodes": {"spec.load", `{requests: 1001}`, "creates each key once"},
		"a duration":               {"spec.load", `{durationSeconds: 10}`, "load.requests to at most keys.count"},
		"a warm-up":                {"spec.load", `{requests: 10, warmupSeconds: 1}`, "load.warmupSeconds to 0, and no load.durationSeconds"},
		"Fast":                     {"spec.load", `{requests: 10, transport: Fast}`, "load.transport: Invalid value: must be Client for target.datastore ZooKeeper"},
		"a long session":           {"spec.load", `{requests: 10, sessionTimeoutSeconds: 301}`, "should be less than or equal to 300"},
		"the leader alone":         {"spec.target.members", `Leader`, "target.members: Invalid value: must be All for target.datastore ZooKeeper"},
		"an empty name":            {"spec.target.keyPrefix", `a//b/`, "target.keyPrefix: Invalid value: for target.datastore ZooKeeper, use names"},
		"its own prefix":           {"spec.target.keyPrefix", `/zookeeper/quota/`, "and not below zookeeper/"},
		"dots":                     {"spec.target.keyPrefix", `../a/`, "target.keyPrefix: Invalid value: for target.datastore ZooKeeper, use names"},
		"disturbances":             {"spec.disturbances", `[{type: LeaseExpiry, everySeconds: 1, leaseExpiry: {}}]`, "disturbances: Invalid value: must be absent for target.datastore ZooKeeper"},
		"a rule about databases":   {"spec.guard", `{stopOn: {databaseSize: {maxBytes: 1000000}}}`, "databaseSize and walFsync cannot be checked for target.datastore ZooKeeper"},
		"a limit of members":       {"spec.objectives", `[{name: a, type: WALFsync, walFsync: {statistic: P99, maxMicroseconds: 1}}]`, "objectives: Invalid value: must be of type Latency"},
		"another store":            {"spec.target.datastore", `Lake`, `supported values: "Etcd", "Kine", "ZooKeeper"`},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, tc.want, edit{"spec.target", zooKeeper}, edit{"spec.workload", nodes}, edit{"spec.load", `{requests: 1000}`}, edit{tc.field, tc.value})
		})
	}
}

func TestAdmissionRejectsAProfileForZooKeeper(t *testing.T) {
	wantRefused(t, "spec.profile: Invalid value: is a load for etcd",
		edit{"spec.target", zooKeeper}, edit{"spec.profile", `Small`}, edit{"spec.workload", ""}, edit{"spec.load", ""}, edit{"spec.objectives", ""})
}

// Consul has its own limits, and no store but ZooKeeper has a session time-out.
func TestAdmissionRejectsForConsul(t *testing.T) {
	for name, tc := range map[string]struct{ field, value, want string }{
		"another workload":   {"spec.workload", `{type: Watch, watch: {}}`, "Delete, Txn, Lock, Election, Lease or Fetch for target.datastore Consul, found type Watch"},
		"ZooKeeper's reads":  {"spec.workload", `{type: Range, range: {consistency: SyncRead}}`, "spec.workload: Invalid value: consistency must be Linearizable, Leader or Serializable for target.datastore Consul"},
		"large transactions": {"spec.workload", `{type: Txn, txn: {putsPerTransaction: 64}}`, "spec.workload.txn: Invalid value: is too large for target.datastore Consul"},
		"short leases":       {"spec.workload", `{type: Lease, lease: {operation: Grant, ttlSeconds: 9}}`, "spec.workload.lease.ttlSeconds: Invalid value: must be 10 to 86400 for target.datastore Consul, found 9"},
		"many leases":        {"spec.workload", `{type: Lease, lease: {operation: KeepAlive, keepAlive: {leases: 100001}}}`, "spec.workload.lease: Invalid value: must take at most 100000 leases for target.datastore Consul"},
		"a session time-out": {"spec.load", `{requests: 1000, sessionTimeoutSeconds: 30}`, "spec.load.sessionTimeoutSeconds: Invalid value: must be absent for target.datastore Consul"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, tc.want, edit{"spec.target", `{datastore: Consul, endpoints: ["a:8500"]}`}, edit{"spec.workload", nodes}, edit{"spec.load", `{requests: 1000}`}, edit{"spec.objectives", ""}, edit{tc.field, tc.value})
		})
	}
	wantTaken(t, edit{"spec.target", `{datastore: Consul, endpoints: ["a:8500"]}`}, edit{"spec.workload", `{type: Mixed, mixed: {readPercent: 50, consistency: Leader}}`}, edit{"spec.objectives", ""})
}

const (
	apiServers = `{type: Kubernetes, kubernetes: {profile: Small}}`
	kine       = `{datastore: Kine, endpoints: ["a:2379"]}`
)

func onKine(edits ...edit) []edit {
	return append([]edit{{"spec.target", kine}, {"spec.workload", apiServers}, {"spec.load", `{durationSeconds: 10}`}, {"spec.objectives", ""}}, edits...)
}

func TestAdmissionAcceptsKine(t *testing.T) {
	for name, edits := range map[string][]edit{
		"API servers": {},
		"TLS":         {{"spec.target", `{datastore: Kine, endpoints: ["a:2379"], tls: {secretName: a}}`}},
		"a Service":   {{"spec.target", `{datastore: Kine, service: {name: kine, port: 2379}}`}},
		"a limit":     {{"spec.objectives", `[{name: a, type: Latency, latency: {operation: OptimisticPut, statistic: P99, maxMicroseconds: 1}}]`}},
		"a rule":      {{"spec.guard", `{stopOn: {errorRatio: {maxPerMillion: 1}}}`}},
		"nodes":       {{"spec.kubernetes", `{nodes: 50}`}, {"spec.workload", ""}, {"spec.load", ""}},
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, onKine(edits...)...) })
	}
}

// Settings that kine does not support are refused, and the message names the field.
func TestAdmissionRejectsForKine(t *testing.T) {
	for name, tc := range map[string]struct{ field, value, want string }{
		"another workload":       {"spec.workload", `{type: Range, range: {}}`, "spec.workload: Invalid value: must be type Kubernetes for target.datastore Kine"},
		"Fast":                   {"spec.load", `{durationSeconds: 10, transport: Fast}`, "load.transport: Invalid value"},
		"a user":                 {"spec.target", `{datastore: Kine, endpoints: ["a:2379"], auth: {secretName: a}}`, "target.auth: Invalid value: must be absent for target.datastore Kine"},
		"the leader alone":       {"spec.target.members", `Leader`, "target.members: Invalid value: must be All for target.datastore Kine"},
		"a member alone":         {"spec.target.memberIndex", `0`, "target.memberIndex: Invalid value: must be absent for target.datastore Kine"},
		"two addresses":          {"spec.target.endpoints", `["a:2379", "b:2379"]`, "target.endpoints: Invalid value: must be one address for target.datastore Kine"},
		"disturbances":           {"spec.disturbances", `[{type: LeaseExpiry, everySeconds: 1, leaseExpiry: {}}]`, "disturbances: Invalid value: must be absent for target.datastore Kine"},
		"a rule about databases": {"spec.guard", `{stopOn: {databaseSize: {maxBytes: 1000000}}}`, "databaseSize, walFsync and leaderChange cannot be checked for target.datastore Kine"},
		"a rule about leaders":   {"spec.guard", `{stopOn: {leaderChange: true}}`, "databaseSize, walFsync and leaderChange cannot be checked for target.datastore Kine"},
		"a limit of members":     {"spec.objectives", `[{name: a, type: LeaderChanges, leaderChanges: {max: 0}}]`, "objectives: Invalid value: must be of type Latency"},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, tc.want, onKine(edit{tc.field, tc.value})...)
		})
	}
	t.Run("a profile", func(t *testing.T) {
		wantRefused(t, "spec.profile: Invalid value: is a load for etcd", onKine(edit{"spec.profile", `Small`}, edit{"spec.workload", ""}, edit{"spec.load", ""})...)
	})
}
