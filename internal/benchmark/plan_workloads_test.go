package benchmark

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// asked holds the settings that the program reads of a workload of any type.
type asked struct {
	Keys        spec.Keys
	Values      spec.Values
	Consistency spec.Consistency
	Operations  []spec.Operation
	Carriers    int
	Contends    bool
	Leases      bool
}

func TestPlanOfWorkloads(t *testing.T) {
	keys := spec.Keys{Count: 50, SizeBytes: 4, Distribution: spec.Uniform}
	nine := spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 9}
	made := spec.Values{SizeBytes: 9, Content: spec.ContentZero, MinSizeBytes: new(int32(3)), SizeDistribution: spec.SizesLogUniform}
	marked := spec.Values{SizeBytes: 50, Content: spec.ContentZero, MinSizeBytes: new(int32(20)), SizeDistribution: spec.SizesUniform}
	tests := map[string]struct {
		workload spec.Workload
		want     asked
	}{
		"pages": {
			spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
				Consistency: spec.Linearizable, Delivery: spec.DeliveryPages, KeysPerRequest: 20, KeysPerPage: new(int64(5)), Keys: keys, Values: nine,
			}},
			asked{Keys: keys, Values: nine, Operations: []spec.Operation{spec.OperationRange}},
		},
		"a stream": {
			spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
				Consistency: spec.Linearizable, Delivery: spec.DeliveryStream, KeysPerRequest: 20, Keys: keys, Values: nine,
			}},
			asked{Keys: keys, Values: nine, Operations: []spec.Operation{spec.OperationRange}},
		},
		"transactions": {
			spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnPuts, PutsPerTransaction: new(int32(5)), Keys: keys, Values: made}},
			asked{Keys: keys, Values: made, Operations: []spec.Operation{spec.OperationTxn}},
		},
		"compare-and-swap": {
			spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnCompareAndSwap, Keys: keys, Values: nine}},
			asked{Keys: keys, Values: nine, Operations: []spec.Operation{spec.OperationCompareAndSwap}},
		},
		"watches": {
			spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{
				Streams: 3, WatchersPerStream: 5, Connections: 2, Scope: spec.WatchScopeAllKeys, PrevKV: true, Keys: keys, Values: marked,
			}},
			asked{
				Keys: keys, Values: marked, Carriers: 2,
				Operations: []spec.Operation{spec.OperationPut, spec.OperationWatchEvent, spec.OperationWatchDelivery},
			},
		},
		"an API server": {
			spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterMedium}},
			asked{
				Values: spec.Values{SizeBytes: 4096}, Leases: true,
				Operations: []spec.Operation{
					spec.OperationOptimisticPut, spec.OperationOptimisticDelete, spec.OperationListBy500, spec.OperationListBy10000,
					spec.OperationWatchEvent, spec.OperationWatchDelivery,
				},
			},
		},
		"gets beside watches": {
			spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{
				Streams: 3, WatchersPerStream: 5, Connections: 2, Events: 7, Keys: keys, Values: made,
			}},
			asked{Keys: keys, Values: made, Consistency: spec.Serializable, Operations: []spec.Operation{spec.OperationRange}, Carriers: 2},
		},
		"software transactions": {
			spec.Workload{Type: spec.WorkloadSTM, STM: &spec.STM{
				Isolation: spec.IsolationReadCommitted, KeysPerTransaction: 5, WritePercent: 20, Locker: spec.LockerRPC, Keys: keys, Values: made,
			}},
			asked{Keys: keys, Values: made, Operations: []spec.Operation{spec.OperationSTM}, Leases: true},
		},
		"locks": {
			spec.Workload{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 7, HoldMilliseconds: 5}},
			asked{
				Operations: []spec.Operation{spec.OperationLockAcquire, spec.OperationLockRelease, spec.OperationLockHandOff},
				Contends:   true, Leases: true,
			},
		},
		"elections": {
			spec.Workload{Type: spec.WorkloadElection, Election: &spec.Election{Names: 7, LeadMilliseconds: 5}},
			asked{
				Operations: []spec.Operation{spec.OperationElectionCampaign, spec.OperationElectionResign, spec.OperationElectionHandOff},
				Contends:   true, Leases: true,
			},
		},
		"lease renewals": {
			spec.Workload{Type: spec.WorkloadLease, Lease: &spec.Lease{
				Operation: spec.LeaseKeepAlive, TTLSeconds: 60, KeepAlive: &spec.KeepAlive{Mode: spec.KeepAliveStream, Leases: 7},
			}},
			asked{Operations: []spec.Operation{spec.OperationLeaseKeepAlive}, Leases: true},
		},
		"lease grants": {
			spec.Workload{Type: spec.WorkloadLease, Lease: &spec.Lease{Operation: spec.LeaseGrant, TTLSeconds: 60}},
			asked{Operations: []spec.Operation{spec.OperationLeaseGrant}, Leases: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts()
			b.Spec.Workload = *tc.workload.DeepCopy()
			got, err := Plan(b, b.Spec.Target.Endpoints)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.workload, got.Workload); diff != "" {
				t.Errorf("workload (-want +got):\n%s", diff)
			}
			if tc.want.Consistency == "" {
				tc.want.Consistency = spec.Linearizable
			}
			read := asked{got.Keys(), got.Values(), got.Consistency(), got.Operations(), got.Carriers(), got.Contends(), got.UsesLeases()}
			if diff := cmp.Diff(tc.want, read); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
	want := workload.Cluster{
		Nodes: 250, Pods: 7500, LeaseBytes: 500, PodBytes: 4096, EventBytes: 700,
		PerMinute: spec.ClusterMinute{LeaseUpdates: 1500, PodCreates: 30, PodUpdates: 120, Events: 150, ListsBy500: 6, ListsBy10000: 1},
	}
	if diff := cmp.Diff(want, workload.ClusterOf(spec.Kubernetes{Profile: spec.ClusterMedium})); diff != "" {
		t.Errorf("cluster (-want +got):\n%s", diff)
	}
}

// Every load of the Kubernetes workload that admission allows has a plan, however unevenly the pods share the clients.
func TestEachClusterIsLargeEnoughForItsPods(t *testing.T) {
	for size, clients := range map[spec.Kubernetes]int32{
		{Profile: spec.ClusterSmall}: 50, {Profile: spec.ClusterMedium}: 250, {Profile: spec.ClusterLarge}: 1000,
		{Nodes: 50}: 50, {Nodes: 55}: 55, {Nodes: 163}: 163, {Nodes: 5000}: 5000,
	} {
		for pods := int32(1); pods <= 25; pods++ {
			for _, connections := range []int32{pods, pods + 1, min(2*pods+1, clients), clients/2 + 1, clients} {
				b := runtest.Puts(func(b *v1alpha1.EtcdBenchmark) {
					b.Spec.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &size}
					b.Spec.Load.Pods, b.Spec.Load.Connections, b.Spec.Load.Clients = pods, connections, clients
				})
				if _, err := Plan(b, b.Spec.Target.Endpoints); err != nil {
					t.Errorf("%+v by %d pods over %d connections: %v", size, pods, connections, err)
				}
			}
		}
	}
}
