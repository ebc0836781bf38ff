//go:build stores

package consul

import (
	"fmt"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul/consultest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Each process reads all its parameters, in every layout, over a connection that is open before or that it opens.
func TestProcessesFetchTheirParameters(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	const processes, parameters, bytes = 40, 12, 50
	for _, layout := range []spec.Layout{spec.LayoutFragmented, spec.LayoutBlob, spec.LayoutFlat, spec.LayoutTree} {
		for _, connect := range []spec.ConnectTime{spec.ConnectBefore, spec.ConnectAtStart} {
			p := planFor(servers, func(p *plan.Plan) {
				p.Workload = spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{
					Layout: layout, Connect: connect, Parameters: spec.ParametersOwn, Consistency: spec.Serializable,
					ParametersPerProcess: parameters, ParameterBytes: bytes, TimeoutMilliseconds: 20_000, Attempts: 10,
				}}
				p.Load.Pods, p.Load.Connections, p.Load.Clients, p.Load.Requests = 3, processes, processes, new(int64(processes))
			})
			name := fmt.Sprint(layout, " ", connect)
			_, snapshots := accounted(t, name, servers[0], p)
			merged := results.Merge(snapshots)
			if got := merged.Operations[spec.OperationFetch]; got.Latency.Count() != processes || merged.Burst.Values != processes*parameters*bytes {
				t.Errorf("%s: %d processes with %d bytes, and the errors %v", name, got.Latency.Count(), merged.Burst.Values, got.Errors)
			}
			reads, perProcess := uint64(0), map[bool]uint64{true: parameters, false: 1}
			for _, s := range snapshots {
				reads += s.Requests[spec.RPCKVGet][results.PhaseMeasured]
			}
			if want := processes * perProcess[layout == spec.LayoutFragmented]; reads != want {
				t.Errorf("%s: %d reads, wanted %d", name, reads, want)
			}
		}
	}
}
