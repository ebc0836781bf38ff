package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// A burst is the load generator's fault only if the first requests are late by more than a tenth of the time until the last
// process. All processes that are due together would otherwise count as late. With a ramp, a process is judged by its own time.
func TestValidityOfABurst(t *testing.T) {
	for name, tc := range map[string]struct {
		lateness, ramp time.Duration
		want           v1alpha1.ValidityVerdict
		harmless       string
	}{
		"as late as it may be":         {990 * time.Millisecond, 0, v1alpha1.ValidityValid, ""},
		"later":                        {1100 * time.Millisecond, 0, v1alpha1.ValidityClientBound, "1s"},
		"as late as it may be, a ramp": {190 * time.Millisecond, 8 * time.Second, v1alpha1.ValidityValid, ""},
		"later, in a ramp":             {210 * time.Millisecond, 8 * time.Second, v1alpha1.ValidityClientBound, "200ms"},
	} {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts(func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{Layout: spec.LayoutFlat, ParametersPerProcess: 1, ParameterBytes: 1}}
				b.Spec.Load.Clients, b.Spec.Load.DurationSeconds, b.Spec.Load.Rate = 2000, nil, nil
			})
			s := pod(0, 10*time.Second, 0)
			fetch := &results.OperationResult{}
			for range 2000 {
				fetch.Latency.Record(int64(3 * time.Second))
				fetch.Service.Record(int64(2 * time.Second))
				fetch.Lateness.Record(int64(tc.lateness))
			}
			s.Process, s.Started = idle(), 2000
			s.Operations = map[spec.Operation]*results.OperationResult{spec.OperationFetch: fetch}
			s.Window.Planned, s.Window.PlannedRequests, s.Window.LastResponse = tc.ramp, 2000, s.Window.Start.Add(10*time.Second)
			got := Clients(b, results.Summarize([]*results.Snapshot{s}))
			if got.Verdict != tc.want {
				t.Errorf("got %s, wanted %s: %+v", got.Verdict, tc.want, got.Reasons)
			}
			if tc.want == v1alpha1.ValidityClientBound && (got.Reasons[0].Cause != v1alpha1.CauseLate || !strings.Contains(got.Reasons[0].Message, "more than "+tc.harmless+" counts")) {
				t.Errorf("the reason is %+v", got.Reasons[0])
			}
		})
	}
}
