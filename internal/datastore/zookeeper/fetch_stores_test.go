//go:build stores

package zookeeper

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Each process reads all its parameters, over a session that is open before or that it opens.
func TestProcessesFetchTheirParameters(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	// With those of the preload, a server accepts no more connections from one address by default.
	const processes, parameters, bytes = 20, 12, 50
	for _, layout := range []spec.Layout{spec.LayoutFragmented, spec.LayoutBlob} {
		for _, connect := range []spec.ConnectTime{spec.ConnectBefore, spec.ConnectAtStart} {
			t.Run(fmt.Sprint(layout, " ", connect), func(t *testing.T) {
				snapshots := run(t, planFor([]string{server.Endpoint()}, func(p *plan.Plan) {
					p.Workload = spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{
						Layout: layout, Connect: connect, Parameters: spec.ParametersOwn, Consistency: spec.Serializable,
						ParametersPerProcess: parameters, ParameterBytes: bytes, TimeoutMilliseconds: 20_000, Attempts: 10,
					}}
					p.Load.Pods, p.Load.Connections, p.Load.Clients, p.Load.Requests = 3, processes, processes, new(int64(processes))
				}))
				merged := results.Merge(snapshots)
				if got := merged.Operations[spec.OperationFetch]; got.Latency.Count() != processes || merged.Burst.Values != processes*parameters*bytes {
					t.Errorf("%d processes with %d bytes, and the errors %v", got.Latency.Count(), merged.Burst.Values, got.Errors)
				}
				reads, sessions := uint64(0), uint64(0)
				for _, s := range snapshots {
					reads += s.Requests[spec.RPCGetData][results.PhaseMeasured]
					sessions += s.Requests[spec.RPCCreateSession][results.PhaseMeasured]
					if s.Cleaning != results.CleaningKeysDeleted {
						t.Errorf("pod %d ends with %s", s.Index, s.Cleaning)
					}
				}
				wantReads := map[spec.Layout]uint64{spec.LayoutFragmented: processes * parameters, spec.LayoutBlob: processes}[layout]
				wantSessions := map[spec.ConnectTime]uint64{spec.ConnectAtStart: processes}[connect]
				if reads != wantReads || sessions != wantSessions {
					t.Errorf("%d reads over %d sessions, wanted %d over %d", reads, sessions, wantReads, wantSessions)
				}
			})
		}
	}
}

// A server that accepts no connection makes an attempt time out, and the next attempt begins anew.
func TestAProcessWhoseServerIsSilent(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	p := planFor([]string{silent.Addr().String()})
	late, err := driverOf(t, p, 0).ConnectLater(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var resp load.Response
		late.Do(bounded(t), &load.Request{Operation: spec.OperationRange, Key: []byte(p.Prefix + "00000001"), Timeout: 50 * time.Millisecond}, &resp)
		if resp.Code != load.CodeDeadlineExceeded {
			t.Errorf("found %q, wanted %s", resp.Code, load.CodeDeadlineExceeded)
		}
	}
}
