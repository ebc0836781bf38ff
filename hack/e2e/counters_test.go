//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// counters are the requests that each member handled, by pod and RPC.
type counters map[string]map[string]int64

// counters reads grpc_server_handled_total of the KV service from each member through the API server, so that the suite
// can run outside the pods' network.
func (c *etcdCluster) counters(ctx context.Context) (counters, error) {
	all := counters{}
	for i := range c.members {
		text, err := suite.set.CoreV1().RESTClient().Get().Namespace(c.namespace).Resource("pods").
			Name(c.podName(i) + ":2381").SubResource("proxy").Suffix("metrics").DoRaw(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the metrics of %s: %w", c.podName(i), err)
		}
		if all[c.podName(i)], err = handledByRPC(text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func handledByRPC(text []byte) (map[string]int64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	handled := map[string]int64{}
	for _, metric := range families["grpc_server_handled_total"].GetMetric() {
		labels := map[string]string{}
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = label.GetValue()
		}
		if labels["grpc_service"] == "etcdserverpb.KV" {
			handled[labels["grpc_method"]] += int64(metric.GetCounter().GetValue())
		}
	}
	return handled, nil
}

// since returns the increase of each counter.
func (c counters) since(before counters) counters {
	rise := counters{}
	for member, byRPC := range c {
		rise[member] = map[string]int64{}
		for rpc, n := range byRPC {
			rise[member][rpc] = n - before[member][rpc]
		}
	}
	return rise
}

// total is the sum of one RPC over the members.
func (c counters) total(rpc string) int64 {
	var sum int64
	for _, byRPC := range c {
		sum += byRPC[rpc]
	}
	return sum
}

// mustCounters reads the counters; a failure ends the test.
func mustCounters(t *testing.T, c *etcdCluster) counters {
	t.Helper()
	read, err := c.counters(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// requireSameCounts compares the run's own counts of its requests with the server's.
func requireSameCounts(t *testing.T, b *v1alpha1.EtcdBenchmark, rise counters) {
	t.Helper()
	reported := map[string]v1alpha1.RequestCount{}
	for _, count := range b.Status.Summary.RequestCounts {
		reported[count.RPC] = count
	}
	for _, rpc := range countedRPCs {
		if sum := sent(reported[rpc]); sum != rise.total(rpc) {
			t.Errorf("%s: status reports %+v, %d in all; the members counted %d", rpc, reported[rpc], sum, rise.total(rpc))
		}
	}
}

// countedRPCs are the compared RPCs of the service.
var countedRPCs = []string{"Put", "Range", "Txn", "DeleteRange"}

func sent(c v1alpha1.RequestCount) int64 { return c.Preload + c.Warmup + c.Measured + c.Control }

// requireNoMoreCounts is for a run with incomplete results. No put that status reports as answered may be counted
// twice. The members must have counted every request that status reports as sent, except one request per client, which
// may have died with its pod before it left.
func requireNoMoreCounts(t *testing.T, b *v1alpha1.EtcdBenchmark, rise counters) {
	t.Helper()
	counts := b.Status.RequestCounts
	if s := b.Status.Summary; s != nil {
		counts = s.RequestCounts
		if answered := s.MeasuredRequests - s.FailedRequests - s.CensoredRequests; answered > rise.total("Put") {
			t.Errorf("status reports %d puts that were answered; the members counted %d", answered, rise.total("Put"))
		}
	}
	for _, count := range counts {
		most := rise.total(count.RPC) + int64(b.Spec.Load.Clients)
		if slices.Contains(countedRPCs, count.RPC) && sent(count) > most {
			t.Errorf("%s: status reports %+v; the members counted %d", count.RPC, count, rise.total(count.RPC))
		}
	}
}
