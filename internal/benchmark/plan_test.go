package benchmark

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// planOfPuts is the plan of runtest.Puts.
func planOfPuts() plan.Plan {
	return plan.Plan{
		Version: plan.Version, RunUID: "11112222-3333-4444-5555-666677778888", Name: "etcd/puts",
		Guard: spec.Guard{MaxFreeQuotaPercent: 50}, Lock: &plan.Lock{WaitSeconds: 300}, TimeoutSeconds: 600,
		Target: plan.Target{Datastore: spec.Etcd, Endpoints: []string{"10.0.0.1:2379"}, Members: spec.MembersAll},
		Run: workload.Run{
			Prefix: "etcdbench/11112222/",
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
				Keys:   spec.Keys{Count: 1000, SizeBytes: 8, Distribution: spec.Sequential},
				Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256},
			}},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 2, Connections: 4, Clients: 10, Requests: new(int64(1000)), RequestTimeoutSeconds: 10, Seed: 1,
			},
		},
	}
}

func TestPlan(t *testing.T) {
	five := spec.Keys{Count: 5, SizeBytes: 4, Distribution: spec.Uniform}
	cases := map[string]struct {
		change    func(*v1alpha1.EtcdBenchmark)
		endpoints []string
		want      func(*plan.Plan)
		// lasts and stretches are the window that follows from the load.
		lasts     time.Duration
		stretches []spec.Stage
	}{
		"put": {},
		"scheme is not part of an address": {
			endpoints: []string{"https://etcd-0:2379", "http://[::1]:2379"},
			want:      func(p *plan.Plan) { p.Target.Endpoints = []string{"etcd-0:2379", "[::1]:2379"} },
		},
		"the members that receive load": {
			change: func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Members = spec.MembersFollowers },
			want:   func(p *plan.Plan) { p.Target.Members = spec.MembersFollowers },
		},
		"one member": {
			change: func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.MemberIndex = new(int32(0)) },
			want:   func(p *plan.Plan) { p.Target.MemberIndex = new(0) },
		},
		"members of its own have samplers": {
			change:    func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Ephemeral = &v1alpha1.EphemeralTarget{} },
			endpoints: []string{"put-members-0.put-members.etcd.svc:2379", "[::1]:2379"},
			want: func(p *plan.Plan) {
				p.Target.Endpoints = []string{"put-members-0.put-members.etcd.svc:2379", "[::1]:2379"}
				p.Target.Samplers = []string{"put-members-0.put-members.etcd.svc:2381", "[::1]:2381"}
				p.Ephemeral, p.Lock = true, nil
			},
		},
		"credentials are where the pods mount them": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Target.TLS = &v1alpha1.TargetTLS{SecretName: "certs", ServerName: "etcd.example"}
				b.Spec.Target.Auth = &v1alpha1.TargetAuth{SecretName: "user"}
			},
			want: func(p *plan.Plan) {
				p.Target.TLS = &plan.TLS{Dir: plan.TLSDir, SecretName: "certs", ServerName: "etcd.example"}
				p.Target.Auth = &plan.Auth{Dir: plan.AuthDir, SecretName: "user"}
			},
		},
		"open loop for a time": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Requests = nil
				b.Spec.Load.DurationSeconds = new(int32(30))
				b.Spec.Load.WarmupSeconds = 5
				b.Spec.Load.Rate = &spec.Rate{PerSecond: 700, Arrival: spec.ArrivalConstant}
			},
			want: func(p *plan.Plan) {
				p.Load.Requests, p.Load.DurationSeconds, p.Load.WarmupSeconds = nil, new(int32(30)), 5
				p.Load.Rate = &spec.Rate{PerSecond: 700, Arrival: spec.ArrivalConstant}
			},
			lasts: 30 * time.Second,
		},
		"a ramp is as long as the window": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Requests = nil
				b.Spec.Load.DurationSeconds = new(int32(30))
				b.Spec.Load.Rate = &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 5, ToPerSecond: 700}, Arrival: spec.ArrivalPoisson}
			},
			want: func(p *plan.Plan) {
				p.Load.Requests, p.Load.DurationSeconds = nil, new(int32(30))
				p.Load.Rate = &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 5, ToPerSecond: 700}, Arrival: spec.ArrivalPoisson}
			},
			lasts:     30 * time.Second,
			stretches: []spec.Stage{{From: 5, To: 700, Seconds: 30}},
		},
		"stages are the window": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Requests = nil
				b.Spec.Load.Rate = &spec.Rate{Stages: []spec.RateStage{{PerSecond: 5, Seconds: 10}, {PerSecond: 0, Seconds: 3}}, Arrival: spec.ArrivalConstant}
			},
			want: func(p *plan.Plan) {
				p.Load.Requests = nil
				p.Load.Rate = &spec.Rate{Stages: []spec.RateStage{{PerSecond: 5, Seconds: 10}, {PerSecond: 0, Seconds: 3}}, Arrival: spec.ArrivalConstant}
			},
			lasts:     13 * time.Second,
			stretches: []spec.Stage{{From: 5, To: 5, Seconds: 10}, {Seconds: 3}},
		},
		"zipf": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Keys.Distribution = spec.ZipfLaw
				b.Spec.Workload.Put.Keys.Zipf = &spec.Zipf{Exponent: "0.7"}
			},
			want: func(p *plan.Plan) {
				p.Workload.Put.Keys.Distribution, p.Workload.Put.Keys.Zipf = spec.ZipfLaw, &spec.Zipf{Exponent: "0.7"}
			},
		},
		"hot spot": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Keys.Distribution = spec.HotSpots
				b.Spec.Workload.Put.Keys.HotSpot = &spec.HotSpot{KeysPerMillion: 20_000, RequestsPerMillion: 800_000}
			},
			want: func(p *plan.Plan) {
				p.Workload.Put.Keys.Distribution = spec.HotSpots
				p.Workload.Put.Keys.HotSpot = &spec.HotSpot{KeysPerMillion: 20_000, RequestsPerMillion: 800_000}
			},
		},
		"range": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
					Consistency: spec.Serializable, KeysPerRequest: 1, Delivery: spec.DeliveryWhole, Keys: five, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 9},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
					Consistency: spec.Serializable, KeysPerRequest: 1, Delivery: spec.DeliveryWhole, Keys: five, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 9},
				}}
			},
		},
		"a page of keys": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
					Consistency: spec.Linearizable, KeysPerRequest: 5, Limit: new(int64(3)), KeysOnly: true, Delivery: spec.DeliveryWhole, Keys: five, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
					Consistency: spec.Linearizable, KeysPerRequest: 5, Limit: new(int64(3)), KeysOnly: true, Delivery: spec.DeliveryWhole, Keys: five, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform},
				}}
			},
		},
		"one key is no interval": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
					Consistency: spec.Linearizable, KeysPerRequest: 1, CountOnly: true, Delivery: spec.DeliveryWhole, Keys: five, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
					Consistency: spec.Linearizable, KeysPerRequest: 1, CountOnly: true, Delivery: spec.DeliveryWhole, Keys: five, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform},
				}}
			},
		},
		"deletions": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{
					Keys: spec.Keys{Count: 1000, SizeBytes: 4, Distribution: spec.Uniform}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 9},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{
					Keys: spec.Keys{Count: 1000, SizeBytes: 4, Distribution: spec.Uniform}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 9},
				}}
			},
		},
		"zero values of any length": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Values = spec.Values{SizeBytes: 256, Content: spec.ContentZero, SizeDistribution: spec.SizesUniform, MinSizeBytes: new(int32(0))}
			},
			want: func(p *plan.Plan) {
				p.Workload.Put.Values = spec.Values{SizeBytes: 256, Content: spec.ContentZero, SizeDistribution: spec.SizesUniform, MinSizeBytes: new(int32(0))}
			},
		},
		"compressible values": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Values = spec.Values{SizeBytes: 256, Content: spec.ContentCompressible, SizeDistribution: spec.SizesUniform, RandomPercent: new(int32(30)), MinSizeBytes: new(int32(200))}
			},
			want: func(p *plan.Plan) {
				p.Workload.Put.Values = spec.Values{SizeBytes: 256, Content: spec.ContentCompressible, SizeDistribution: spec.SizesUniform, RandomPercent: new(int32(30)), MinSizeBytes: new(int32(200))}
			},
		},
		"random values": {
			change: func(b *v1alpha1.EtcdBenchmark) { b.Spec.Workload.Put.Values.Content = spec.ContentRandom },
			want:   func(p *plan.Plan) { p.Workload.Put.Values.Content = spec.ContentRandom },
		},
		"mixed": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
					Consistency: spec.Linearizable, ReadPercent: 70, InTransaction: true, Keys: five, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 9},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
					Consistency: spec.Linearizable, ReadPercent: 70, InTransaction: true, Keys: five, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 9},
				}}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, want := runtest.Puts(), planOfPuts()
			if tc.change != nil {
				tc.change(b)
			}
			if tc.endpoints == nil {
				tc.endpoints = b.Spec.Target.Endpoints
			}
			if tc.want != nil {
				tc.want(&want)
			}
			got, err := Plan(b, tc.endpoints)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.stretches, got.Load.Stages()); diff != "" || got.Load.Duration() != tc.lasts {
				t.Errorf("the window lasts %v, wanted %v; stretches (-want +got):\n%s", got.Load.Duration(), tc.lasts, diff)
			}
		})
	}
}

func TestPlanRefusesARunWithoutEndpoints(t *testing.T) {
	if p, err := Plan(runtest.Puts(), nil); err == nil {
		t.Errorf("a plan without endpoints was made: %+v", p)
	}
}
