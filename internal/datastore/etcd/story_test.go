package etcd

import (
	"net/http"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// story is a run's report, and what etcd has seen of the run.
type story struct {
	snapshots []*results.Snapshot
	merged    *results.Snapshot
	// loadPuts are the puts of the load's keys, by the revision that made them.
	loadPuts map[int64][]string
}

// runAndCompare runs a plan on a cluster. It checks that etcd's counters rise by the requests that the run reports, and that
// nothing is left.
func runAndCompare(t *testing.T, cluster *etcdtest.Cluster, client *clientv3.Client, p plan.Plan) story {
	t.Helper()
	start, err := client.Get(t.Context(), "-")
	if err != nil {
		t.Fatal(err)
	}
	before := received(t, cluster)
	s := story{snapshots: runAll(t, p)}
	after := received(t, cluster)
	s.merged = results.Merge(s.snapshots)
	accounted, _ := account(s.snapshots)
	for rpc, n := range after {
		if rpc == spec.RPCWatch {
			// The test also watches. And etcd does not count a cancellation that the end of its stream overtakes.
			continue
		}
		if served := n - before[rpc]; accounted[rpc] != served {
			t.Errorf("%s: etcd received %d, the snapshots account for %d", rpc, served, accounted[rpc])
		}
	}
	wantClean(t, cluster, s.snapshots)
	s.loadPuts = putsSince(t, client, start.Header.Revision+1)
	return s
}

// received returns how many messages of each kind etcd reports to have received. For unary calls this is the number of
// calls. For a stream of requests, etcd counts its end as one more.
func received(t *testing.T, cluster *etcdtest.Cluster) map[spec.RPC]uint64 {
	t.Helper()
	awaitStreamsEnded(t, cluster)
	out := counterByMethod(t, cluster, "grpc_server_msg_received_total")
	out[spec.RPCLeaseKeepAlive] -= counterByMethod(t, cluster, "grpc_server_handled_total")[spec.RPCLeaseKeepAlive]
	return out
}

// awaitStreamsEnded waits until etcd has noticed the end of every stream of renewals.
func awaitStreamsEnded(t *testing.T, cluster *etcdtest.Cluster) {
	t.Helper()
	ctx := withTimeout(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		started := counterByMethod(t, cluster, "grpc_server_started_total")[spec.RPCLeaseKeepAlive]
		if started == counterByMethod(t, cluster, "grpc_server_handled_total")[spec.RPCLeaseKeepAlive] {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal("there are streams of renewals that do not end")
		case <-tick.C:
		}
	}
}

// counterByMethod returns one of etcd's counters, by the method that it counts.
func counterByMethod(t *testing.T, cluster *etcdtest.Cluster, name string) map[spec.RPC]uint64 {
	t.Helper()
	out := map[spec.RPC]uint64{}
	for _, m := range metricsOf(t, cluster)[name].GetMetric() {
		for _, label := range m.GetLabel() {
			if label.GetName() == "grpc_method" {
				out[spec.RPC(label.GetValue())] += uint64(m.GetCounter().GetValue())
			}
		}
	}
	return out
}

func metricsOf(t *testing.T, cluster *etcdtest.Cluster) map[string]*dto.MetricFamily {
	t.Helper()
	response, err := http.Get("http://" + cluster.Endpoints[0] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// putsSince returns the puts of the load's keys from a revision on, until the run gave up its prefix.
func putsSince(t *testing.T, client *clientv3.Client, revision int64) map[int64][]string {
	t.Helper()
	out := map[int64][]string{}
	for response := range client.Watch(withTimeout(t), ownPrefix, clientv3.WithPrefix(), clientv3.WithRev(revision)) {
		for _, e := range response.Events {
			switch key := string(e.Kv.Key)[len(ownPrefix):]; {
			case e.Type == clientv3.EventTypeDelete && key == ".owner":
				return out
			case e.Type == clientv3.EventTypePut && key[0] != '.':
				out[e.Kv.ModRevision] = append(out[e.Kv.ModRevision], key)
			}
		}
	}
	t.Fatal("the history of the run does not end with its marker")
	return nil
}

// operation returns the result of an operation, and checks that none of its requests failed.
func (s story) operation(t *testing.T, operation spec.Operation) *results.OperationResult {
	t.Helper()
	r := s.merged.Operations[operation]
	if r == nil {
		t.Fatalf("the run measured %v, not %s", s.merged.Operations, operation)
	}
	if r.Failed.Count() > 0 {
		t.Errorf("%s failed with %v", operation, r.Errors)
	}
	return r
}

// do sends one request and checks that it succeeds.
func do(t *testing.T, c load.Conn, request load.Request) load.Response {
	t.Helper()
	var response load.Response
	c.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &request, &response)
	if !response.Succeeded() {
		t.Fatalf("%s failed with %s: %s", request.Operation, response.Code, response.Detail)
	}
	if response.Received <= response.Sent || response.Sent == 0 {
		t.Errorf("%s: sent at %d and received at %d do not follow each other", request.Operation, response.Sent, response.Received)
	}
	return response
}
