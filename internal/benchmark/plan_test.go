package benchmark

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestPlan(t *testing.T) {
	want := plan.Plan{
		Version: plan.Version, RunUID: "11112222-3333-4444-5555-666677778888", Name: "etcd/puts", Pods: 2,
		Prefix: "etcdbench/11112222/", Guard: plan.Guard{MaxFreeQuotaPercent: 50, StopOn: plan.StopRules{Alarm: true}}, AwaitTurn: true, TimeoutSeconds: 600,
		Target: plan.Target{Endpoints: []string{"10.0.0.1:2379"}, Members: plan.MembersAll},
		Workload: plan.Workload{
			Type: plan.WorkloadPut, KeySize: 8, ValueSize: 256, KeyCount: 1000, KeyOrder: plan.KeyOrderSequential,
		},
		Load: plan.Load{Transport: "ClientV3", Connections: 4, Clients: 10, Requests: 1000, RequestTimeoutSeconds: 10, Seed: 1},
	}
	cases := map[string]struct {
		change    func(*v1alpha1.EtcdBenchmark)
		endpoints []string
		want      func(*plan.Plan)
	}{
		"put": {},
		"scheme is not part of an address": {
			endpoints: []string{"https://etcd-0:2379", "http://[::1]:2379"},
			want:      func(p *plan.Plan) { p.Target.Endpoints = []string{"etcd-0:2379", "[::1]:2379"} },
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
				b.Spec.Load.Rate = &v1alpha1.Rate{PerSecond: 700}
			},
			want: func(p *plan.Plan) {
				p.Load.Requests, p.Load.DurationSeconds, p.Load.WarmupSeconds, p.Load.RatePerSecond = 0, 30, 5, 700
			},
		},
		"a ramp is as long as the window": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Requests = nil
				b.Spec.Load.DurationSeconds = new(int32(30))
				b.Spec.Load.Rate = &v1alpha1.Rate{Ramp: &v1alpha1.Ramp{FromPerSecond: 5, ToPerSecond: 700}, Arrival: v1alpha1.ArrivalPoisson}
			},
			want: func(p *plan.Plan) {
				p.Load.Requests, p.Load.DurationSeconds, p.Load.Poisson = 0, 30, true
				p.Load.Stages = []plan.Stage{{FromPerSecond: 5, ToPerSecond: 700, Seconds: 30}}
			},
		},
		"stages are the window": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Requests = nil
				b.Spec.Load.Rate = &v1alpha1.Rate{Stages: []v1alpha1.RateStage{{PerSecond: 5, Seconds: 10}, {PerSecond: 0, Seconds: 3}}}
			},
			want: func(p *plan.Plan) {
				p.Load.Requests, p.Load.DurationSeconds = 0, 13
				p.Load.Stages = []plan.Stage{{FromPerSecond: 5, ToPerSecond: 5, Seconds: 10}, {Seconds: 3}}
			},
		},
		"zipf": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Keys.Order = v1alpha1.KeyOrderZipf
				b.Spec.Workload.Put.Keys.Zipf = &v1alpha1.ZipfOrder{ExponentThousandths: 700}
			},
			want: func(p *plan.Plan) {
				p.Workload.KeyOrder, p.Workload.Demand.ZipfThousandths = plan.KeyOrderZipf, 700
			},
		},
		"hot spot": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Keys.Order = v1alpha1.KeyOrderHotSpot
				b.Spec.Workload.Put.Keys.HotSpot = &v1alpha1.HotSpotOrder{KeysPerThousand: 20, RequestsPerThousand: 800}
			},
			want: func(p *plan.Plan) {
				p.Workload.KeyOrder = plan.KeyOrderHotSpot
				p.Workload.Demand = plan.Demand{HotKeysPerThousand: 20, HotRequestsPerThousand: 800}
			},
		},
		"range": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadRange, Range: &v1alpha1.RangeWorkload{
					Consistency: v1alpha1.ConsistencySerializable, KeySize: 4, ValueSize: 9,
					Keys: v1alpha1.KeySpace{Count: 5, Order: v1alpha1.KeyOrderUniform},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = plan.Workload{
					Type: plan.WorkloadRange, Serializable: true, KeySize: 4, ValueSize: 9, KeyCount: 5, KeyOrder: plan.KeyOrderUniform,
				}
			},
		},
		"a page of keys": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadRange, Range: &v1alpha1.RangeWorkload{
					KeysPerRequest: 5, Limit: new(int64(3)), KeysOnly: true, KeySize: 4, Keys: v1alpha1.KeySpace{Count: 5, Order: v1alpha1.KeyOrderUniform},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = plan.Workload{
					Type: plan.WorkloadRange, KeySize: 4, KeyCount: 5, KeyOrder: plan.KeyOrderUniform,
					Interval: plan.Interval{Keys: 5, Limit: 3, KeysOnly: true},
				}
			},
		},
		"one key is no interval": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadRange, Range: &v1alpha1.RangeWorkload{
					KeysPerRequest: 1, CountOnly: true, KeySize: 4, Keys: v1alpha1.KeySpace{Count: 5, Order: v1alpha1.KeyOrderUniform},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = plan.Workload{
					Type: plan.WorkloadRange, KeySize: 4, KeyCount: 5, KeyOrder: plan.KeyOrderUniform, Interval: plan.Interval{CountOnly: true},
				}
			},
		},
		"deletions": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadDelete, Delete: &v1alpha1.DeleteWorkload{
					KeySize: 4, ValueSize: 9, Keys: v1alpha1.KeySpace{Count: 1000, Order: v1alpha1.KeyOrderUniform},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = plan.Workload{
					Type: plan.WorkloadDelete, KeySize: 4, ValueSize: 9, KeyCount: 1000, KeyOrder: plan.KeyOrderUniform,
				}
			},
		},
		"zero values of any length": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Values = &v1alpha1.Values{Content: v1alpha1.ValueContentZero, MinSize: new(int32(0))}
			},
			want: func(p *plan.Plan) { p.Workload.Values = plan.Values{ZeroPercent: 100, Spread: 256} },
		},
		"compressible values": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Values = &v1alpha1.Values{Content: v1alpha1.ValueContentCompressible, RandomPercent: new(int32(30)), MinSize: new(int32(200))}
			},
			want: func(p *plan.Plan) { p.Workload.Values = plan.Values{ZeroPercent: 70, Spread: 56} },
		},
		"random values": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload.Put.Values = &v1alpha1.Values{Content: v1alpha1.ValueContentRandom}
			},
			want: func(*plan.Plan) {},
		},
		"mixed": {
			change: func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadMixed, Mixed: &v1alpha1.MixedWorkload{
					Consistency: v1alpha1.ConsistencyLinearizable, ReadsPerHundred: 70, InTransaction: true, KeySize: 4, ValueSize: 9,
					Keys: v1alpha1.KeySpace{Count: 5, Order: v1alpha1.KeyOrderUniform},
				}}
			},
			want: func(p *plan.Plan) {
				p.Workload = plan.Workload{
					Type: plan.WorkloadMixed, ReadsPerHundred: 70, InTransaction: true, KeySize: 4, ValueSize: 9, KeyCount: 5, KeyOrder: plan.KeyOrderUniform,
				}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, want := putRun(), want
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
		})
	}
}

func TestPlanRefusesWhatCannotBeRun(t *testing.T) {
	if p, err := Plan(putRun(), nil); err == nil {
		t.Errorf("a plan without endpoints was made: %+v", p)
	}
}
