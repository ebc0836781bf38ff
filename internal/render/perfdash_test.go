package render

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestPerfdash(t *testing.T) {
	type labels = map[string]string
	partial := func(b *v1alpha1.EtcdBenchmark) { b.Status.Summary.Partial = true }
	cases := map[string]struct {
		run        *v1alpha1.EtcdBenchmark
		wantLabels []labels
	}{
		"whole": {
			finished([]*results.Snapshot{runtest.Measured(0, 100)}),
			[]labels{{"Operation": "PUT"}, {"Operation": "PUT", "Metric": "Throughput"}},
		},
		"partial": {
			finished([]*results.Snapshot{runtest.Measured(0, 100)}, partial),
			[]labels{{"Operation": "PUT", "Partial": "true"}, {"Operation": "PUT", "Partial": "true", "Metric": "Throughput"}},
		},
		"cut off": {
			finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.CutOff(5, 10*time.Second))}),
			[]labels{{"Operation": "PUT", "AtLeast": "Perc99"}, {"Operation": "PUT", "Metric": "Throughput"}},
		},
		"nothing succeeded": {
			finished([]*results.Snapshot{runtest.Measured(0, 0, runtest.Failing(5, "Unavailable", time.Second))}),
			[]labels{{"Operation": "PUT", "Failed": "true", "Metric": "Throughput"}},
		},
		"some failed": {
			finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Failing(2, "Unavailable", time.Second))}),
			[]labels{{"Operation": "PUT", "Failed": "true"}, {"Operation": "PUT", "Failed": "true", "Metric": "Throughput"}},
		},
		"too few failed for a percentile": {
			finished([]*results.Snapshot{runtest.Measured(0, 199, runtest.Failing(1, "Unavailable", time.Second))}),
			[]labels{{"Operation": "PUT"}, {"Operation": "PUT", "Metric": "Throughput"}},
		},
		"the client was the limit": {
			finished([]*results.Snapshot{runtest.Measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
				b.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityClientBound}
			}),
			[]labels{{"Operation": "PUT", "ClientBound": "true"}, {"Operation": "PUT", "ClientBound": "true", "Metric": "Throughput"}},
		},
		"not known whether it was": {
			finished([]*results.Snapshot{runtest.Measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
				b.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityUnknown}
			}),
			[]labels{{"Operation": "PUT"}, {"Operation": "PUT", "Metric": "Throughput"}},
		},
		"another transport": {
			finished([]*results.Snapshot{runtest.Measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
				b.Status.Summary.Transport = spec.TransportFast
			}),
			[]labels{{"Operation": "PUT", "Transport": "Fast"}, {"Operation": "PUT", "Transport": "Fast", "Metric": "Throughput"}},
		},
		"nothing measured": {runtest.Puts(), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := readPerfdash(t, tc.run)
			var found []labels
			for _, item := range got.DataItems {
				found = append(found, item.Labels)
			}
			if diff := cmp.Diff(tc.wantLabels, found); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

// The figures of members have the names and units of clusterloader2's test of etcd.
func TestPerfdashHasTheFiguresOfMembers(t *testing.T) {
	run := finished([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(100, func(f map[results.Figure]float64) {
		f[results.TimerBackendCommit.Count()], f[results.TimerBackendCommit.Seconds()] = 50, 0.4
	})))})
	run.Status.Summary.Partial = true
	var got []perfdashItem
	for _, item := range readPerfdash(t, run).DataItems {
		if item.Labels["Member"] != "" {
			got = append(got, item)
		}
	}
	labels := func(metric string) map[string]string {
		return map[string]string{"Metric": metric, "Member": "0", "Partial": "true"}
	}
	want := []perfdashItem{
		{map[string]float64{"Perc50": 0.0015, "Perc90": 0.003, "Perc99": 0.0075}, labels("EtcdWalFsyncDuration"), "s"},
		{map[string]float64{"BackendCommitRate": 5}, labels("EtcdWriteThroughput"), "ops/s"},
		{map[string]float64{"Max": 1024}, labels("EtcdMemory"), "MiB"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the items (-want +got):\n%s", diff)
	}
}

// Different measurements have different names: the name is that of etcd's own benchmark if that measures the same, and
// no two workloads share a name.
func TestPerfdashNamesOperationsByTheWorkload(t *testing.T) {
	type workload = spec.Workload
	cases := map[string]struct {
		workload workload
		want     map[spec.Operation]string
	}{
		"puts":             {workload{Type: spec.WorkloadPut, Put: &spec.Put{}}, map[spec.Operation]string{spec.OperationPut: "PUT"}},
		"reads":            {workload{Type: spec.WorkloadRange, Range: &spec.Range{}}, map[spec.Operation]string{spec.OperationRange: "RANGE"}},
		"transactions":     {workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnPuts}}, map[spec.Operation]string{spec.OperationTxn: "TXN-PUT"}},
		"compare and swap": {workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnCompareAndSwap}}, map[spec.Operation]string{spec.OperationCompareAndSwap: "TXN-COMPAREANDSWAP"}},
		"mixed": {workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{}},
			map[spec.Operation]string{spec.OperationPut: "MIXED-PUT", spec.OperationRange: "MIXED-RANGE"}},
		"mixed, in transactions": {workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{InTransaction: true}},
			map[spec.Operation]string{spec.OperationPut: "TXN-MIXED-WRITE", spec.OperationRange: "TXN-MIXED-READ"}},
		"watches": {workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{}}, map[spec.Operation]string{
			spec.OperationPut: "WATCH-LATENCY-PUT", spec.OperationWatchDelivery: "WATCH-LATENCY-WATCH", spec.OperationWatchEvent: "WATCHEVENT"}},
		"reads beside watchers": {workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{}}, map[spec.Operation]string{spec.OperationRange: "WATCH-GET"}},
		"renewals, one stream for each": {workload{Type: spec.WorkloadLease, Lease: &spec.Lease{KeepAlive: &spec.KeepAlive{Mode: spec.KeepAliveOnce}}},
			map[spec.Operation]string{spec.OperationLeaseKeepAlive: "LEASE-KEEPALIVE"}},
		"renewals over a stream": {workload{Type: spec.WorkloadLease, Lease: &spec.Lease{KeepAlive: &spec.KeepAlive{Mode: spec.KeepAliveStream}}},
			map[spec.Operation]string{spec.OperationLeaseKeepAlive: "LEASE-KEEPALIVE-STREAM"}},
		"an API server": {workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterSmall}}, map[spec.Operation]string{
			spec.OperationWatchEvent: "KUBERNETES-WATCHEVENT", spec.OperationWatchDelivery: "KUBERNETES-WATCHDELIVERY"}},
		"locks": {workload{Type: spec.WorkloadLock, Lock: &spec.Lock{}}, map[spec.Operation]string{spec.OperationLockAcquire: "LOCKACQUIRE"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for operation, want := range tc.want {
				run := finished([]*results.Snapshot{runtest.Measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
					b.Spec.Workload = tc.workload
					b.Status.Summary.Operations[0].Operation = operation
				})
				for _, item := range readPerfdash(t, run).DataItems {
					if got := item.Labels["Operation"]; got != want {
						t.Errorf("%s is called %s, wanted %s", operation, got, want)
					}
				}
			}
		})
	}
}

func readPerfdash(t *testing.T, run *v1alpha1.EtcdBenchmark) (r perfdashResult) {
	t.Helper()
	data, err := Perfdash(run)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if r.Version != "v1" || r.DataItems == nil {
		t.Errorf("wanted a list of version v1, found %s", data)
	}
	return r
}

// Perfdash requires these names of percentiles and units.
func TestPerfdashHasMilliseconds(t *testing.T) {
	run := finished([]*results.Snapshot{runtest.Measured(0, 100)})
	l := run.Status.Summary.Operations[0].Latency
	l.P50Microseconds, l.P90Microseconds, l.P99Microseconds = 1234, 5_000, 1_000_001
	want := []perfdashItem{
		{Data: map[string]float64{"Perc50": 1.234, "Perc90": 5, "Perc99": 1000.001}, Labels: map[string]string{"Operation": "PUT"}, Unit: "ms"},
		{Data: map[string]float64{"Average": 100}, Labels: map[string]string{"Operation": "PUT", "Metric": "Throughput"}, Unit: "1/s"},
	}
	if diff := cmp.Diff(want, readPerfdash(t, run).DataItems); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}
