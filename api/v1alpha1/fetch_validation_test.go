package v1alpha1_test

import "testing"

// fetches is a burst of 100 processes with a connection each.
var fetches = []edit{{"spec.workload", `{type: Fetch, fetch: {}}`}, {"spec.load", `{clients: 100, connections: 100}`}}

func fetchWith(more ...edit) []edit { return append(append([]edit{}, fetches...), more...) }

func TestAdmissionAcceptsFetch(t *testing.T) {
	for name, edits := range map[string][]edit{
		"the defaults":       fetchWith(),
		"a ramp":             fetchWith(edit{"spec.workload.fetch", `{rampSeconds: 10}`}),
		"shared connections": fetchWith(edit{"spec.workload.fetch", `{connect: Before}`}, edit{"spec.load.connections", `3`}),
		"the largest blob":   fetchWith(edit{"spec.workload.fetch", `{layout: Blob, parametersPerProcess: 10000, parameterBytes: 150}`}),
		"over Fast":          fetchWith(edit{"spec.load.transport", `Fast`}),
		"over JSON":          fetchWith(edit{"spec.load.transport", `JSON`}),
		"from ZooKeeper":     fetchWith(edit{"spec.target", zooKeeper}, edit{"spec.workload.fetch", `{layout: Blob, parametersPerProcess: 10000, parameterBytes: 100}`}),
		"from Consul":        fetchWith(edit{"spec.target.datastore", `Consul`}, edit{"spec.workload.fetch", `{layout: Tree}`}),
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, edits...) })
	}
}

func TestAdmissionRejectsFetch(t *testing.T) {
	for name, tc := range map[string]struct {
		want  string
		edits []edit
	}{
		"no field":                  {"needs the field fetch and no other", []edit{{"spec.workload", `{type: Fetch}`}}},
		"requests":                  {"spec.load: Invalid value: for workload.type Fetch, remove requests", fetchWith(edit{"spec.load.requests", `100`})},
		"a duration":                {"remove durationSeconds", fetchWith(edit{"spec.load.durationSeconds", `1`})},
		"a rate":                    {"remove rate", fetchWith(edit{"spec.load.rate", `{perSecond: 1}`})},
		"a warm-up":                 {"remove warmupSeconds", fetchWith(edit{"spec.load.warmupSeconds", `1`})},
		"fewer processes than pods": {"spec.load.connections: Invalid value: must be at least load.pods (200)", fetchWith(edit{"spec.load.pods", `200`})},
		"fewer connections that open at the start": {"spec.load.connections: Invalid value: must equal load.clients (100, default 1) for workload.fetch.connect AtStart, found 3", fetchWith(edit{"spec.load.connections", `3`})},
		"shared connections over JSON": {"spec.load.clients: Invalid value: must be at most load.connections (3",
			fetchWith(edit{"spec.workload.fetch", `{connect: Before}`}, edit{"spec.load.connections", `3`}, edit{"spec.load.transport", `JSON`})},
		"a blob above etcd's limit":        {"fetch.parameterBytes: Invalid value: a value would have 1510000 bytes", fetchWith(edit{"spec.workload.fetch", `{layout: Blob, parametersPerProcess: 10000, parameterBytes: 151}`})},
		"a response too long":              {"fetch.parametersPerProcess: Invalid value: one response would have more than 48 MiB", fetchWith(edit{"spec.workload.fetch", `{layout: Tree, parametersPerProcess: 10000, parameterBytes: 5000}`})},
		"too many keys":                    {"fetch.parameters: Invalid value: must be Shared for 1000000 processes", fetchWith(edit{"spec.workload.fetch", `{connect: Before, parameters: Own, parametersPerProcess: 1001}`}, edit{"spec.load.clients", `1000000`})},
		"a ramp longer than the run":       {"spec.timeoutSeconds: Invalid value: must be greater than workload.fetch.rampSeconds (600)", fetchWith(edit{"spec.workload.fetch", `{rampSeconds: 600}`})},
		"reads of another store":           {"spec.workload: Invalid value: consistency must be Linearizable or Serializable", fetchWith(edit{"spec.workload.fetch", `{consistency: SyncRead}`})},
		"a layout that ZooKeeper lacks":    {"Fetch with layout Fragmented or Blob for target.datastore ZooKeeper, found type Fetch with layout Tree", fetchWith(edit{"spec.target", zooKeeper}, edit{"spec.workload.fetch", `{layout: Tree}`})},
		"a blob above ZooKeeper's limit":   {"values of at most 1000000 bytes", fetchWith(edit{"spec.target", zooKeeper}, edit{"spec.workload.fetch", `{layout: Blob, parametersPerProcess: 10000, parameterBytes: 101}`})},
		"more keys than Consul's memory":   {"at most 10000000 keys", fetchWith(edit{"spec.target.datastore", `Consul`}, edit{"spec.workload.fetch", `{connect: Before, parameters: Own, parametersPerProcess: 1001}`}, edit{"spec.load", `{clients: 10000, connections: 10000}`})},
		"an operation that it lacks":       {"objectives", fetchWith(edit{"spec.objectives", `[{name: a, type: Latency, latency: {operation: Range, statistic: P99, maxMicroseconds: 1}}]`})},
		"another workload without a bound": {"spec.load: Invalid value: set load.requests or load.durationSeconds, or neither with load.rate.stages: found neither", []edit{{"spec.load", `{}`}}},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, tc.edits...) })
	}
}
