package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func leasesOf(l plan.Lease) (*Workload, plan.Plan) {
	p := planOf(plan.Workload{Type: plan.WorkloadLease, Lease: &l})
	p.FirstLease, p.Load.Requests = 3*plan.LeaseIDs, 50
	return New(p), p
}

func TestGrantsMakeNewLeases(t *testing.T) {
	w, p := leasesOf(plan.Lease{Operation: plan.LeaseGrant})
	seen := map[int64]bool{}
	for _, stream := range []Stream{Warmup, Measured} {
		for n := range int64(50) {
			op := w.At(stream, n)
			if op.Kind != results.OperationLeaseGrant || !op.OnLease() || op.OnSeveral() || seen[op.Lease] || !p.OwnsLease(op.Lease) {
				t.Fatalf("operation %d is %+v, wanted the grant of a new lease of the run", n, op)
			}
			seen[op.Lease] = true
		}
	}
	if w.PreloadCount() != 0 || w.KeyBytes() != 0 {
		t.Errorf("%d operations before the load, keys of %d bytes; wanted none", w.PreloadCount(), w.KeyBytes())
	}
}

// preloaded are the leases that the load finds.
func preloaded(t *testing.T, w *Workload) map[int64]bool {
	t.Helper()
	out := map[int64]bool{}
	for k := range w.PreloadCount() {
		op := w.Preload(k)
		if op.Kind != results.OperationLeaseGrant {
			t.Fatalf("operation %d before the load is %+v, wanted a grant", k, op)
		}
		out[op.Lease] = true
	}
	return out
}

func TestRenewalsTakeThePreloadedLeasesInTurn(t *testing.T) {
	w, _ := leasesOf(plan.Lease{Operation: plan.LeaseKeepAlive, Count: 7})
	leases := preloaded(t, w)
	renewed := map[int64]int{}
	for n := range int64(70) {
		op := w.At(Measured, n)
		if op.Kind != results.OperationLeaseKeepAlive || !leases[op.Lease] {
			t.Fatalf("operation %d is %+v, wanted the renewal of a preloaded lease", n, op)
		}
		renewed[op.Lease]++
	}
	for lease, times := range renewed {
		if times != 10 {
			t.Errorf("lease %x was renewed %d times, wanted 10", lease, times)
		}
	}
	if len(leases) != 7 || len(renewed) != 7 {
		t.Errorf("%d leases were preloaded and %d renewed, wanted 7", len(leases), len(renewed))
	}
}

func TestRevocationsTakeEachPreloadedLeaseOnce(t *testing.T) {
	w, _ := leasesOf(plan.Lease{Operation: plan.LeaseRevoke})
	leases := preloaded(t, w)
	for n := range int64(50) {
		op := w.At(Measured, n)
		if op.Kind != results.OperationLeaseRevoke || !leases[op.Lease] {
			t.Fatalf("operation %d is %+v, wanted the revocation of a lease that is there", n, op)
		}
		delete(leases, op.Lease)
	}
	if len(leases) > 0 {
		t.Errorf("%d leases were preloaded for nothing", len(leases))
	}
}
