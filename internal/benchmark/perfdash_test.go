package benchmark

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestPerfdash(t *testing.T) {
	type labels = map[string]string
	partial := func(b *v1alpha1.EtcdBenchmark) { b.Status.Summary.Partial = true }
	cases := map[string]struct {
		run        *v1alpha1.EtcdBenchmark
		wantLabels []labels
	}{
		"whole": {
			finished([]*results.Snapshot{measured(0, 100)}),
			[]labels{{"Operation": "PUT"}, {"Operation": "PUT", "Metric": "Throughput"}},
		},
		"partial": {
			finished([]*results.Snapshot{measured(0, 100)}, partial),
			[]labels{{"Operation": "PUT", "Partial": "true"}, {"Operation": "PUT", "Partial": "true", "Metric": "Throughput"}},
		},
		"cut off": {
			finished([]*results.Snapshot{measured(0, 100, cutOff(5, 10*time.Second))}),
			[]labels{{"Operation": "PUT", "AtLeast": "Perc99"}, {"Operation": "PUT", "Metric": "Throughput"}},
		},
		"nothing succeeded": {
			finished([]*results.Snapshot{measured(0, 0, failing(5, "Unavailable", time.Second))}),
			[]labels{{"Operation": "PUT", "Metric": "Throughput"}},
		},
		"transactions": {
			finished([]*results.Snapshot{measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
				b.Status.Summary.Operations[0].Operation = v1alpha1.OperationTxn
			}),
			[]labels{{"Operation": "TXN-PUT"}, {"Operation": "TXN-PUT", "Metric": "Throughput"}},
		},
		"nothing measured": {putRun(), nil},
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

// The names of percentiles and units are what makes a graph.
func TestPerfdashHasMilliseconds(t *testing.T) {
	run := finished([]*results.Snapshot{measured(0, 100)})
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
