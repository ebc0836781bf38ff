package benchmark

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestPlanOfWorkloads(t *testing.T) {
	keys := v1alpha1.KeySpace{Count: 50, Order: v1alpha1.KeyOrderUniform}
	// space is what every workload on such keys has.
	space := plan.Workload{KeySize: 4, ValueSize: 9, KeyCount: 50, KeyOrder: plan.KeyOrderUniform}
	made := &v1alpha1.Values{Content: v1alpha1.ValueContentZero, MinSize: new(int32(3)), Sizes: v1alpha1.ValueSizesLogUniform}
	wantMade := plan.Values{ZeroPercent: 100, Spread: 6, LogUniform: true}
	tests := map[string]struct {
		workload v1alpha1.Workload
		want     func(*plan.Workload)
	}{
		"pages": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadRange, Range: &v1alpha1.RangeWorkload{
				Delivery: v1alpha1.DeliveryPages, KeysPerRequest: 20, PageSize: new(int64(5)), KeySize: 4, ValueSize: 9, Keys: keys,
			}},
			func(w *plan.Workload) {
				w.Type, w.Interval = plan.WorkloadRange, plan.Interval{Keys: 20, PageKeys: 5}
			},
		},
		"a stream": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadRange, Range: &v1alpha1.RangeWorkload{
				Delivery: v1alpha1.DeliveryStream, KeysPerRequest: 20, KeySize: 4, ValueSize: 9, Keys: keys,
			}},
			func(w *plan.Workload) {
				w.Type, w.Interval = plan.WorkloadRange, plan.Interval{Keys: 20, Stream: true}
			},
		},
		"transactions": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadTxn, Txn: &v1alpha1.TxnWorkload{
				Mode: v1alpha1.TxnPuts, PutsPerTransaction: new(int32(5)), KeySize: 4, ValueSize: 9, Keys: keys, Values: made,
			}},
			func(w *plan.Workload) {
				w.Type, w.Txn, w.Values = plan.WorkloadTxn, &plan.Txn{Puts: 5}, wantMade
			},
		},
		"compare-and-swap": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadTxn, Txn: &v1alpha1.TxnWorkload{
				Mode: v1alpha1.TxnCompareAndSwap, KeySize: 4, ValueSize: 9, Keys: keys,
			}},
			func(w *plan.Workload) { w.Type, w.Txn = plan.WorkloadTxn, &plan.Txn{} },
		},
		"watches": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadWatch, Watch: &v1alpha1.WatchWorkload{
				Streams: 3, WatchersPerStream: 5, Connections: 2, Scope: v1alpha1.WatchScopeAllKeys, PrevKV: true, KeySize: 4, ValueSize: 50, Keys: keys,
				Values: &v1alpha1.Values{Content: v1alpha1.ValueContentZero, MinSize: new(int32(20))},
			}},
			func(w *plan.Workload) {
				w.Type, w.ValueSize, w.Values = plan.WorkloadWatch, 50, plan.Values{ZeroPercent: 100, Spread: 30}
				w.Watch = &plan.Watch{Streams: 3, WatchersPerStream: 5, Connections: 2, AllKeys: true, PrevKV: true}
			},
		},
		"an API server": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadKubernetes, Kubernetes: &v1alpha1.KubernetesWorkload{Profile: v1alpha1.KubernetesMedium}},
			func(w *plan.Workload) {
				*w = plan.Workload{Type: plan.WorkloadKubernetes, ValueSize: 4096, Kubernetes: &plan.Kubernetes{
					Nodes: 250, Pods: 7500, LeaseBytes: 500, PodBytes: 4096, EventBytes: 700,
					PerMinute: plan.KubernetesMinute{
						LeaseUpdates: 1500, PodCreates: 30, PodUpdates: 120, Events: 150, ListsBy500: 6, ListsBy10000: 1,
					},
				}}
			},
		},
		"gets beside watches": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadWatchGet, WatchGet: &v1alpha1.WatchGetWorkload{
				Streams: 3, WatchersPerStream: 5, Connections: 2, Events: 7, KeySize: 4, ValueSize: 9, Keys: keys, Values: made,
			}},
			func(w *plan.Workload) {
				w.Type, w.Serializable, w.Values = plan.WorkloadWatchGet, true, wantMade
				w.WatchGet = &plan.WatchGet{Streams: 3, WatchersPerStream: 5, Connections: 2, Events: 7}
			},
		},
		"software transactions": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadSTM, STM: &v1alpha1.STMWorkload{
				Isolation: v1alpha1.IsolationReadCommitted, KeysPerTransaction: 5, WritePercent: 20, Locker: v1alpha1.STMLockerLockRPC,
				KeySize: 4, ValueSize: 9, Keys: keys, Values: made,
			}},
			func(w *plan.Workload) {
				w.Type, w.Values = plan.WorkloadSTM, wantMade
				w.STM = &plan.STM{Isolation: plan.IsolationReadCommitted, Keys: 5, WritePercent: 20, Locker: plan.LockerRPC}
			},
		},
		"locks": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadLock, Lock: &v1alpha1.LockWorkload{Names: 7, HoldMilliseconds: 5}},
			func(w *plan.Workload) {
				*w = plan.Workload{Type: plan.WorkloadLock, Contest: &plan.Contest{Names: 7, HoldMilliseconds: 5}}
			},
		},
		"elections": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadElection, Election: &v1alpha1.ElectionWorkload{Names: 7, LeadMilliseconds: 5}},
			func(w *plan.Workload) {
				*w = plan.Workload{Type: plan.WorkloadElection, Contest: &plan.Contest{Names: 7, HoldMilliseconds: 5}}
			},
		},
		"lease renewals": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadLease, Lease: &v1alpha1.LeaseWorkload{
				Operation: v1alpha1.LeaseKeepAlive, TTLSeconds: 60, KeepAlive: &v1alpha1.LeaseKeepAliveSettings{Mode: v1alpha1.KeepAliveStream, Leases: 7},
			}},
			func(w *plan.Workload) {
				*w = plan.Workload{Type: plan.WorkloadLease, Lease: &plan.Lease{Operation: plan.LeaseKeepAlive, TTLSeconds: 60, Count: 7, Stream: true}}
			},
		},
		"lease grants": {
			v1alpha1.Workload{Type: v1alpha1.WorkloadLease, Lease: &v1alpha1.LeaseWorkload{Operation: v1alpha1.LeaseGrant, TTLSeconds: 60}},
			func(w *plan.Workload) {
				*w = plan.Workload{Type: plan.WorkloadLease, Lease: &plan.Lease{Operation: plan.LeaseGrant, TTLSeconds: 60}}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b, want := putRun(), space
			b.Spec.Workload = tc.workload
			tc.want(&want)
			got, err := Plan(b, b.Spec.Target.Endpoints)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Workload); diff != "" {
				t.Errorf("workload (-want +got):\n%s", diff)
			}
		})
	}
}

// Who reads the command that removes what is left must revoke the leases that
// the plan lets the pods grant, and no others.
func TestTheLeasesOfARunHaveTheDigitsOfItsRemovalCommand(t *testing.T) {
	b := putRun()
	if b.RemovalCommand() != "etcdctl del --prefix 'etcdbench/11112222/'" {
		t.Errorf("a run without leases is removed by %s", b.RemovalCommand())
	}
	b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadLease, Lease: &v1alpha1.LeaseWorkload{Operation: v1alpha1.LeaseGrant, TTLSeconds: 60}}
	p, err := Plan(b, b.Spec.Target.Endpoints)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(b.RemovalCommand(), "grep '^")
	digits, _, _ := strings.Cut(rest, "'")
	if len(digits) != 10 {
		t.Fatalf("the command %s does not look for ten digits", b.RemovalCommand())
	}
	for id, want := range map[int64]bool{
		p.FirstLease - 1: false, p.FirstLease: true, p.LeaseID(plan.LeaseOfClient, 1<<22-1): true, p.FirstLease + plan.LeaseIDs: false,
	} {
		if found := strings.HasPrefix(fmt.Sprintf("%016x", id), digits); found != want || p.OwnsLease(id) != want {
			t.Errorf("lease %016x: the command takes it: %v, the plan owns it: %v, wanted %v", id, found, p.OwnsLease(id), want)
		}
	}
}

// Whatever admission lets through of Kubernetes has a plan, however unevenly its
// clients fall to the pods.
func TestEachClusterIsLargeEnoughForItsPods(t *testing.T) {
	for profile, clients := range map[v1alpha1.KubernetesProfile]int32{v1alpha1.KubernetesSmall: 50, v1alpha1.KubernetesMedium: 250, v1alpha1.KubernetesLarge: 1000} {
		for pods := int32(1); pods <= 25; pods++ {
			for _, connections := range []int32{pods, pods + 1, min(2*pods+1, clients), clients/2 + 1, clients} {
				b := putRun(func(b *v1alpha1.EtcdBenchmark) {
					b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadKubernetes, Kubernetes: &v1alpha1.KubernetesWorkload{Profile: profile}}
					b.Spec.Load.Pods, b.Spec.Load.Connections, b.Spec.Load.Clients = pods, connections, clients
				})
				if _, err := Plan(b, b.Spec.Target.Endpoints); err != nil {
					t.Errorf("%s by %d pods over %d connections: %v", profile, pods, connections, err)
				}
			}
		}
	}
}
