package workload

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// traits are the properties of a workload other than its requests.
type traits struct {
	Operations []spec.Operation
	// Preload is the number of operations before the load.
	Preload int64
	// Fast: the transport Fast supports it. Stale: its reads are serializable.
	Fast, Stale bool
	// Leases is how many leases are granted, as far as it is known.
	Leases                         int64
	UsesLeases, Sessions, Contends bool
	Registry, Marked, History      bool
	// Carriers is the number of connections, and Watchers of all watchers, of the three pods.
	Carriers, Watchers int
	Drain              time.Duration
	// Words are empty if they are those of most workloads.
	Words Words
}

func traitsOf(r Run) traits {
	w, fast := New(r), r
	fast.Load.Transport = spec.TransportFast
	out := traits{
		Operations: r.Operations(), Preload: w.PreloadCount(), Fast: fast.CheckStore(spec.Etcd) == nil, Stale: r.Consistency() == spec.Serializable,
		Leases: r.LeaseCount(), UsesLeases: r.UsesLeases(), Sessions: r.UsesSessions(), Contends: r.Contends(),
		Registry: r.UsesRegistry(), Marked: w.Marked(), History: r.ReplaysHistory(),
		Carriers: r.Carriers(), Drain: r.DrainLimit(), Words: r.Words(),
	}
	for pod := range r.Pods() {
		for _, stream := range w.Watchers(pod) {
			out.Watchers += len(stream)
		}
	}
	if cmp.Equal(out.Words, Words{Done: "REQUESTS", Rate: "QPS"}) {
		out.Words = Words{}
	}
	return out
}

func TestTraitsOfEachWorkload(t *testing.T) {
	const timeout, keys = 10 * time.Second, 100_000
	reads := func(s spec.Range) func(*Run) {
		s.Keys = someKeys
		return func(r *Run) { r.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &s} }
	}
	mixed := func(s spec.Mixed) func(*Run) {
		s.Keys = someKeys
		return func(r *Run) { r.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &s} }
	}
	names := func(o spec.Operation, name string) Words {
		return Words{Done: "REQUESTS", Rate: "QPS", Names: map[spec.Operation]string{o: name}}
	}
	renewals := func(m spec.KeepAliveMode) func(*Run) {
		return leasing(spec.Lease{Operation: spec.LeaseKeepAlive, KeepAlive: &spec.KeepAlive{Leases: 70, Mode: m}})
	}
	anyOrder := someKeys
	anyOrder.Distribution = spec.Uniform
	tests := map[string]struct {
		change func(*Run)
		want   traits
	}{
		"puts": {func(*Run) {}, traits{
			Operations: []spec.Operation{spec.OperationPut}, Fast: true,
			Words: Words{Done: "PUTS", Written: "KEYS WRITTEN", Rate: "WRITE QPS", Targets: true, Succeeded: true},
		}},
		"puts in any order": {func(r *Run) { r.Workload.Put.Keys = anyOrder }, traits{
			Operations: []spec.Operation{spec.OperationPut}, Fast: true, Words: Words{Done: "PUTS", Rate: "WRITE QPS", Targets: true, Succeeded: true},
		}},
		"reads": {reads(spec.Range{Delivery: spec.DeliveryWhole, Consistency: spec.Linearizable}), traits{
			Operations: []spec.Operation{spec.OperationRange}, Preload: keys, Fast: true, Words: Words{Done: "REQUESTS", Rate: "READ QPS"},
		}},
		"stale pages": {reads(spec.Range{Consistency: spec.Serializable, Delivery: spec.DeliveryPages}), traits{
			Operations: []spec.Operation{spec.OperationRange}, Preload: keys, Stale: true, Words: Words{Done: "REQUESTS", Rate: "READ QPS"},
		}},
		"a mixture": {mixed(spec.Mixed{ReadPercent: 50, Consistency: spec.Serializable}), traits{
			Operations: []spec.Operation{spec.OperationPut, spec.OperationRange}, Preload: keys, Fast: true, Stale: true,
		}},
		"only reads in transactions": {mixed(spec.Mixed{Consistency: spec.Linearizable, ReadPercent: 100, InTransaction: true}), traits{
			Operations: []spec.Operation{spec.OperationRange}, Preload: keys,
			Words: Words{Done: "REQUESTS", Rate: "QPS", Names: map[spec.Operation]string{spec.OperationPut: "TXN-MIXED-WRITE", spec.OperationRange: "TXN-MIXED-READ"}},
		}},
		"deletions": {func(r *Run) {
			r.Workload = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: someKeys}}
		}, traits{
			Operations: []spec.Operation{spec.OperationDelete}, Preload: keys, Fast: true, Words: Words{Done: "KEYS DELETED", Rate: "WRITE QPS", Targets: true},
		}},
		"transactions": {transacting(3, someKeys), traits{
			Operations: []spec.Operation{spec.OperationTxn}, Fast: true, Words: names(spec.OperationTxn, "TXN-PUT"),
		}},
		"compare-and-swaps": {transacting(0, someKeys), traits{
			Operations: []spec.Operation{spec.OperationCompareAndSwap}, Preload: keys, Fast: true, Words: names(spec.OperationTxn, "TXN-PUT"),
		}},
		"software transactions": {softly(spec.STM{Locker: spec.LockerNone, Keys: someKeys}), traits{
			Operations: []spec.Operation{spec.OperationSTM}, Preload: keys,
		}},
		"software transactions with locks": {softly(spec.STM{Locker: spec.LockerRPC, Keys: someKeys}), traits{
			Operations: []spec.Operation{spec.OperationSTM}, Preload: keys, Leases: 1000, UsesLeases: true, Sessions: true,
		}},
		"locks": {locking(spec.Lock{Names: 3, HoldMilliseconds: 20}), traits{
			Operations: []spec.Operation{spec.OperationLockAcquire, spec.OperationLockRelease, spec.OperationLockHandOff},
			Leases:     1000, UsesLeases: true, Sessions: true, Contends: true, Drain: 2*timeout + 20*time.Millisecond,
		}},
		"elections": {standing(spec.Election{Names: 3, LeadMilliseconds: 30}), traits{
			Operations: []spec.Operation{spec.OperationElectionCampaign, spec.OperationElectionResign, spec.OperationElectionHandOff},
			Leases:     1000, UsesLeases: true, Sessions: true, Contends: true, Drain: 2*timeout + 30*time.Millisecond,
		}},
		"grants":      {leasing(spec.Lease{Operation: spec.LeaseGrant}), traits{Operations: []spec.Operation{spec.OperationLeaseGrant}, Fast: true, Leases: keys, UsesLeases: true}},
		"revocations": {leasing(spec.Lease{Operation: spec.LeaseRevoke}), traits{Operations: []spec.Operation{spec.OperationLeaseRevoke}, Preload: keys, Fast: true, Leases: keys, UsesLeases: true}},
		"renewals": {renewals(spec.KeepAliveOnce), traits{
			Operations: []spec.Operation{spec.OperationLeaseKeepAlive}, Preload: 70, Leases: 70, UsesLeases: true, Words: names(spec.OperationLeaseKeepAlive, "LEASE-KEEPALIVE"),
		}},
		"renewals over streams": {renewals(spec.KeepAliveStream), traits{
			Operations: []spec.Operation{spec.OperationLeaseKeepAlive}, Preload: 70, Leases: 70, UsesLeases: true, Words: names(spec.OperationLeaseKeepAlive, "LEASE-KEEPALIVE-STREAM"),
		}},
		"watched puts": {watching(func(r *Run) { r.Workload.Watch.Connections = 3 }), traits{
			Operations: []spec.Operation{spec.OperationPut, spec.OperationWatchEvent, spec.OperationWatchDelivery}, Preload: keys, Marked: true, Carriers: 3, Watchers: 4 * 5,
			Words: Words{Done: "REQUESTS", Rate: "QPS", Names: map[spec.Operation]string{spec.OperationPut: "WATCH-LATENCY-PUT", spec.OperationWatchDelivery: "WATCH-LATENCY-WATCH"}},
		}},
		"histories": {replaying(func(r *Run) { r.Workload.WatchGet.Connections = 4 }), traits{
			Operations: []spec.Operation{spec.OperationRange}, Preload: keys, Stale: true, History: true, Carriers: 4, Words: names(spec.OperationRange, "WATCH-GET"),
		}},
		"a cluster": {serving(func(*Run) {}), traits{
			Operations: []spec.Operation{
				spec.OperationOptimisticPut, spec.OperationOptimisticDelete, spec.OperationListBy500, spec.OperationListBy10000,
				spec.OperationWatchEvent, spec.OperationWatchDelivery,
			},
			Preload: 50 + 1500, UsesLeases: true, Registry: true, Marked: true, Watchers: 3 * 3,
		}},
		"processes": {fetching(spec.Fetch{Layout: spec.LayoutFlat}), traits{
			Operations: []spec.Operation{spec.OperationFetch}, Preload: 10, Fast: true, Stale: true,
			Words: Words{Done: "PROCESSES", Rate: "PROCESSES PER SECOND", Succeeded: true},
		}},
		"a log": {appendingTo(2300), traits{
			Operations: []spec.Operation{spec.OperationAppend, spec.OperationFlush},
			Words:      Words{Done: "APPENDS", Rate: "APPENDS PER SECOND", Succeeded: true},
		}},
		"looks": {func(r *Run) {
			r.Workload = spec.Workload{Type: spec.WorkloadObserve}
			r.Load = spec.Load{Pods: 1, Connections: 1, Clients: 1, DurationSeconds: new(int32(30)), RequestTimeoutSeconds: 10, Seed: 1}
		}, traits{
			Operations: []spec.Operation{spec.OperationStatus}, Words: Words{Done: "STATUS REQUESTS", Rate: "REQUESTS PER SECOND"},
		}},
		"what no plan has known": {func(r *Run) { r.Workload.Type = "Nothing" }, traits{}},
	}
	seen := map[spec.WorkloadType]bool{}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := valid()
			tc.change(&r)
			seen[r.Workload.Type] = true
			if tc.want.Drain == 0 {
				tc.want.Drain = timeout
			}
			if diff := cmp.Diff(tc.want, traitsOf(r)); diff != "" {
				t.Errorf("what follows (-want +got):\n%s", diff)
			}
		})
	}
	for kind := range kinds {
		if !seen[kind] {
			t.Errorf("no test case has the traits of %s", kind)
		}
	}
}
