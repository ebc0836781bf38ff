package render

import (
	"cmp"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestDisplay(t *testing.T) {
	summary := benchmark.Summary(runtest.Puts(), results.Summarize([]*results.Snapshot{runtest.Measured(0, 100), runtest.Measured(1, 100, runtest.CutOff(20, time.Minute))}))
	done := []v1alpha1.PodStatus{{Index: 0, Stage: "Done"}, {Index: 1, Stage: "Done", Partial: true}}
	cases := map[string]struct {
		status v1alpha1.EtcdBenchmarkStatus
		// want is without the fields that follow from the spec of the run.
		want v1alpha1.Display
	}{
		"nothing yet":      {v1alpha1.EtcdBenchmarkStatus{}, v1alpha1.Display{}},
		"pods are started": {v1alpha1.EtcdBenchmarkStatus{Progress: &v1alpha1.Progress{ReadyPods: 1}}, v1alpha1.Display{Pods: "1/2"}},
		"while it runs": {
			v1alpha1.EtcdBenchmarkStatus{Progress: &v1alpha1.Progress{ReadyPods: 2, Requests: 9, ThroughputPerSecond: "48123", P50Microseconds: 4_100, P99Microseconds: 25_100}},
			v1alpha1.Display{Pods: "2/2", Throughput: "48,123/s", P50: "4.1ms", P99: "25.1ms", Errors: "0"},
		},
		"while all fail": {
			v1alpha1.EtcdBenchmarkStatus{Progress: &v1alpha1.Progress{ReadyPods: 2, Requests: 9, FailedRequests: 9}},
			v1alpha1.Display{Pods: "2/2", Throughput: "0/s", Errors: "9"},
		},
		"while it ends": {
			v1alpha1.EtcdBenchmarkStatus{Progress: &v1alpha1.Progress{
				ReadyPods: 2, Requests: 9, ThroughputPerSecond: "48123", P50Microseconds: 4_100, P99Microseconds: 25_100, AtLeast: []spec.Statistic{spec.StatisticP99},
			}},
			v1alpha1.Display{Pods: "2/2", Throughput: "48,123/s", P50: "4.1ms", P99: "≥25.1ms", Errors: "0"},
		},
		"with a result": {
			v1alpha1.EtcdBenchmarkStatus{Summary: summary, Pods: done},
			v1alpha1.Display{Pods: "1/2", Throughput: "200/s", P50: "55ms", P99: "–", Errors: "0"},
		},
		"with known members": {
			v1alpha1.EtcdBenchmarkStatus{Target: &v1alpha1.TargetStatus{Members: make([]v1alpha1.MemberStatus, 3)}},
			v1alpha1.Display{Members: "3 (all members)"},
		},
		"with unknown members": {v1alpha1.EtcdBenchmarkStatus{Target: &v1alpha1.TargetStatus{}}, v1alpha1.Display{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts()
			b.Status = tc.status
			tc.want.Target, tc.want.Load, tc.want.Rate = "10.0.0.1:2379", "4×10", "closed loop"
			if got := Display(b); *got != tc.want {
				t.Errorf("wanted %+v, got %+v", tc.want, got)
			}
		})
	}
}

// The fields that follow from the spec are shown from the start.
func TestDisplayShowsTheSpec(t *testing.T) {
	cases := map[string]struct {
		change func(*v1alpha1.EtcdBenchmark)
		want   v1alpha1.Display
	}{
		"one address": {func(*v1alpha1.EtcdBenchmark) {}, v1alpha1.Display{}},
		"addresses": {
			func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Endpoints = []string{"a:1", "b:1", "c:1"} },
			v1alpha1.Display{Target: "a:1 and 2 more"},
		},
		"a service": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Target.Endpoints, b.Spec.Target.Service = nil, &v1alpha1.ServiceTarget{Name: "etcd-client"}
			},
			v1alpha1.Display{Target: "service etcd-client"},
		},
		"pods": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Target.Endpoints, b.Spec.Target.Pods = nil, &v1alpha1.PodsTarget{}
			},
			v1alpha1.Display{Target: "pods"},
		},
		"no target": {func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Endpoints = nil }, v1alpha1.Display{Target: "none"}},
		"many clients": {
			func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Connections, b.Spec.Load.Clients = 1000, 20_000 },
			v1alpha1.Display{Load: "1,000×20,000"},
		},
		"a rate": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Rate = &spec.Rate{PerSecond: 2000, Arrival: spec.ArrivalPoisson}
			},
			v1alpha1.Display{Rate: "2,000/s"},
		},
		"a ramp up": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Rate = &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 5, ToPerSecond: 7000}}
			},
			v1alpha1.Display{Rate: "7,000/s"},
		},
		"a ramp down": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Rate = &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 7000, ToPerSecond: 5}}
			},
			v1alpha1.Display{Rate: "7,000/s"},
		},
		"stages": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Rate = &spec.Rate{Stages: []spec.RateStage{{PerSecond: 5, Seconds: 1}, {PerSecond: 90, Seconds: 1}, {PerSecond: 9, Seconds: 1}}}
			},
			v1alpha1.Display{Rate: "90/s"},
		},
		"a profile": {
			func(b *v1alpha1.EtcdBenchmark) { b.Spec.Profile = v1alpha1.ProfileSmall },
			v1alpha1.Display{Load: "50×50", Rate: "150/s"},
		},
		"the leader": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Target.Members = spec.MembersLeader
				b.Status.Target = &v1alpha1.TargetStatus{Members: make([]v1alpha1.MemberStatus, 3)}
			},
			v1alpha1.Display{Members: "3 (leader only)"},
		},
		"one member": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Target.MemberIndex = new(int32(2))
				b.Status.Target = &v1alpha1.TargetStatus{Members: make([]v1alpha1.MemberStatus, 3)}
			},
			v1alpha1.Display{Members: "3 (member 2 only)"},
		},
		"followers": {
			func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Target.Members = spec.MembersFollowers
				b.Status.Target = &v1alpha1.TargetStatus{Members: make([]v1alpha1.MemberStatus, 5)}
			},
			v1alpha1.Display{Members: "5 (followers only)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := &tc.want
			want.Target, want.Load, want.Rate = cmp.Or(want.Target, "10.0.0.1:2379"), cmp.Or(want.Load, "4×10"), cmp.Or(want.Rate, "closed loop")
			if want.Target == "none" {
				want.Target = ""
			}
			if got := Display(runtest.Puts(tc.change)); *got != *want {
				t.Errorf("wanted %+v, got %+v", want, got)
			}
		})
	}
}

// mixed adds reads with a higher median and a lower tail than the puts, and events that are slower than both.
func mixed(s *results.Snapshot) {
	read := &results.OperationResult{Errors: map[string]uint64{}}
	event := &results.OperationResult{Errors: map[string]uint64{}}
	for range 1000 {
		read.Latency.Record((70 * time.Millisecond).Nanoseconds())
		event.Latency.Record(time.Hour.Nanoseconds())
	}
	s.Operations[spec.OperationRange], s.Operations[spec.OperationWatchEvent] = read, event
}

func TestDisplayShowsNoEvents(t *testing.T) {
	b := runtest.Puts()
	b.Status.Summary = benchmark.Summary(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 1000, mixed)}))
	if got := Display(b); got.P99 != "992ms" || got.P50 != "499ms" {
		t.Errorf("p99 is %s and p50 %s, wanted those of the puts", got.P99, got.P50)
	}
}
