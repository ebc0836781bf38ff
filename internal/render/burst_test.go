package render

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// burstOf is a pod's part of a burst of 200 processes, which read 100 B each.
func burstOf(index, tasks, failed int) *results.Snapshot {
	s := runtest.Measured(index, 0)
	fetch := &results.OperationResult{Errors: map[string]uint64{}}
	for range tasks - failed {
		fetch.Latency.Record(int64(time.Second))
		fetch.Service.Record(int64(time.Second))
		fetch.Lateness.Record(int64(time.Millisecond))
	}
	for range failed {
		fetch.Failed.Record(int64(time.Second))
		fetch.Errors["Unavailable"]++
	}
	s.Operations = map[spec.Operation]*results.OperationResult{spec.OperationFetch: fetch}
	s.Window.Planned, s.Window.PlannedRequests, s.Window.LastResponse = 0, uint64(tasks), s.Window.Start.Add(2*time.Second)
	s.Bodies = results.Bodies{Sent: uint64(10 * tasks), Received: uint64(181 * tasks)}
	s.Burst = results.Burst{Values: uint64(100 * tasks), Unavailable: uint64(failed), Wire: results.Bodies{Sent: 1_000_000, Received: 5_000_000}}
	for i := range tasks {
		s.Burst.Count(i % 20)
	}
	return s
}

// Two pods have the result of one, in status and in the table.
func TestTheResultOfABurst(t *testing.T) {
	b := runtest.Puts(func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Workload = spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{Layout: spec.LayoutFlat, ParametersPerProcess: 1, ParameterBytes: 100, Connect: spec.ConnectAtStart}}
		b.Spec.Load.Clients, b.Spec.Load.Connections, b.Spec.Load.DurationSeconds, b.Spec.Load.Rate = 200, 200, nil, nil
	})
	for name, tc := range map[string]struct {
		failed int
		last   int64
		want   []string
	}{
		"all have everything": {0, 2_000_000, []string{"2s 0 MB 0 MB 81 % 10 MB 2 MB 0", "TIME-OUTS OF A PROCESS 0 1 2", "16–31", "PROCESSES 10 10 10"}},
		"some do not":         {3, 0, []string{"0 MB 0 MB 81 % 10 MB 2 MB 6", "Fetch failed with Unavailable: 6"}},
	} {
		t.Run(name, func(t *testing.T) {
			b.Status.Summary = benchmark.Summary(b, results.Summarize([]*results.Snapshot{burstOf(0, 100, tc.failed), burstOf(1, 100, tc.failed)}))
			got := *b.Status.Summary.Burst
			if last := got.Timeouts[len(got.Timeouts)-1]; len(got.Timeouts) != 17 || last.From != 16 || *last.To != 31 || last.Processes != 40 {
				t.Errorf("40 processes had 16 to 31 time-outs, found %+v", last)
			}
			got.Timeouts = nil
			want := v1alpha1.BurstSummary{
				LastProcessMicroseconds: tc.last, ValueBytes: 20_000, BodyOverheadPercent: "81", WireSentBytes: 2_000_000, WireReceivedBytes: 10_000_000, UnavailableProcesses: int64(2 * tc.failed),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("burst (-want +got):\n%s", diff)
			}
			var out bytes.Buffer
			if err := WriteTable(&out, b, nil); err != nil {
				t.Fatal(err)
			}
			table := strings.Join(strings.Fields(out.String()), " ")
			for _, want := range tc.want {
				if !strings.Contains(table, want) {
					t.Errorf("the table does not say %q:\n%s", want, out.String())
				}
			}
		})
	}
}
