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
		"another workload":         {"spec.workload", `{type: Range, range: {}}`, "spec.workload: Invalid value: must be type Put with put.keys.distribution Sequential for target.datastore ZooKeeper"},
		"keys written again":       {"spec.workload", `{type: Put, put: {keys: {count: 1000, distribution: Uniform}}}`, "spec.workload: Invalid value: must be type Put with put.keys.distribution Sequential for target.datastore ZooKeeper"},
		"short names":              {"spec.workload", `{type: Put, put: {keys: {count: 1000, sizeBytes: 3, distribution: Sequential}}}`, "keys.sizeBytes at least 4"},
		"too many nodes":           {"spec.workload", `{type: Put, put: {keys: {count: 10000001, sizeBytes: 8, distribution: Sequential}}}`, "keys.count must be at most 10000000"},
		"too large a value":        {"spec.workload", `{type: Put, put: {keys: {count: 1000, distribution: Sequential}, values: {sizeBytes: 1000001}}}`, "values.sizeBytes at most 1000000"},
		"more requests than nodes": {"spec.load", `{requests: 1001}`, "a key can be written only once"},
		"a duration":               {"spec.load", `{durationSeconds: 10}`, "load.requests: Invalid value: for target.datastore ZooKeeper, set load.requests to at most put.keys.count"},
		"a warm-up":                {"spec.load", `{requests: 10, warmupSeconds: 1}`, "load.warmupSeconds to 0, and no load.durationSeconds"},
		"Fast":                     {"spec.load", `{requests: 10, transport: Fast}`, "load.transport: Invalid value: must be Client for target.datastore ZooKeeper"},
		"TLS":                      {"spec.target", `{datastore: ZooKeeper, endpoints: ["a:2181"], tls: {secretName: a}}`, "target.tls: Invalid value: must be absent for target.datastore ZooKeeper"},
		"a user":                   {"spec.target", `{datastore: ZooKeeper, endpoints: ["a:2181"], auth: {secretName: a}}`, "target.auth: Invalid value: must be absent for target.datastore ZooKeeper"},
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
