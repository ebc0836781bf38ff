package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// leasing makes a run of the workload Lease.
func leasing(l spec.Lease) func(*Run) {
	return func(r *Run) {
		l.TTLSeconds = 60
		r.FirstLease, r.Workload = 5*LeaseIDs, spec.Workload{Type: spec.WorkloadLease, Lease: &l}
	}
}

func leasesOf(l spec.Lease) (*Workload, Run) {
	r := valid()
	leasing(l)(&r)
	r.Load.Requests = new(int64(50))
	return New(r), r
}

func TestGrantsMakeNewLeases(t *testing.T) {
	w, r := leasesOf(spec.Lease{Operation: spec.LeaseGrant})
	seen := map[int64]bool{}
	for _, stream := range []Stream{Warmup, Measured} {
		for n := range int64(50) {
			op := w.At(stream, n)
			if op.Kind != spec.OperationLeaseGrant || op.Subject != OnLease || seen[op.Lease] || !r.OwnsLease(op.Lease) {
				t.Fatalf("operation %d is %+v, wanted the grant of a new lease of the run", n, op)
			}
			seen[op.Lease] = true
		}
	}
	if w.PreloadCount() != 0 || w.KeyBytes() != 0 {
		t.Errorf("%d operations before the load, keys of %d bytes; wanted none", w.PreloadCount(), w.KeyBytes())
	}
}

// preloaded are the IDs of the preloaded leases.
func preloaded(t *testing.T, w *Workload) map[int64]bool {
	t.Helper()
	out := map[int64]bool{}
	for k := range w.PreloadCount() {
		op := w.Preload(k)
		if op.Kind != spec.OperationLeaseGrant {
			t.Fatalf("operation %d before the load is %+v, wanted a grant", k, op)
		}
		out[op.Lease] = true
	}
	return out
}

func TestRenewalsTakeThePreloadedLeasesInTurn(t *testing.T) {
	w, _ := leasesOf(spec.Lease{Operation: spec.LeaseKeepAlive, KeepAlive: &spec.KeepAlive{Mode: spec.KeepAliveOnce, Leases: 7}})
	leases := preloaded(t, w)
	renewed := map[int64]int{}
	for n := range int64(70) {
		op := w.At(Measured, n)
		if op.Kind != spec.OperationLeaseKeepAlive || !leases[op.Lease] {
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
	w, _ := leasesOf(spec.Lease{Operation: spec.LeaseRevoke})
	leases := preloaded(t, w)
	for n := range int64(50) {
		op := w.At(Measured, n)
		if op.Kind != spec.OperationLeaseRevoke || !leases[op.Lease] {
			t.Fatalf("operation %d is %+v, wanted the revocation of an existing lease", n, op)
		}
		delete(leases, op.Lease)
	}
	if len(leases) > 0 {
		t.Errorf("%d preloaded leases were never revoked", len(leases))
	}
}

func TestValidateRefusesALease(t *testing.T) {
	grants := func(change func(*Run)) func(*Run) {
		return func(r *Run) { leasing(spec.Lease{Operation: spec.LeaseGrant})(r); change(r) }
	}
	renewals := func(leases int64) func(*Run) {
		return leasing(spec.Lease{Operation: spec.LeaseKeepAlive, KeepAlive: &spec.KeepAlive{Mode: spec.KeepAliveOnce, Leases: leases}})
	}
	requireProblems(t, map[string]problem{
		"no operation":            {leasing(spec.Lease{}), "workload.lease.operation"},
		"no lease to renew":       {renewals(0), "workload.lease.keepAlive.leases"},
		"too many to renew":       {renewals(spec.MaxLeases + 1), "workload.lease.keepAlive.leases"},
		"renewals of any kind":    {leasing(spec.Lease{Operation: spec.LeaseKeepAlive}), "workload.lease.keepAlive: wanted to be set"},
		"a stream of grants":      {grants(func(r *Run) { r.Workload.Lease.KeepAlive = &spec.KeepAlive{Mode: spec.KeepAliveStream, Leases: 1} }), "workload.lease.keepAlive: wanted to be set"},
		"grants without bound":    {grants(func(r *Run) { forSeconds(r, 5) }), "load.requests"},
		"too many grants":         {grants(func(r *Run) { r.Load.Requests = new(int64(spec.MaxLeases + 1)) }), "load.requests"},
		"a warm-up that revokes":  {func(r *Run) { leasing(spec.Lease{Operation: spec.LeaseRevoke})(r); r.Load.WarmupSeconds = 1 }, "load.warmupSeconds"},
		"a warm-up of grants":     {grants(func(r *Run) { r.Load.WarmupSeconds = 1 }), "load.warmupSeconds: wanted 0 in a closed loop"},
		"a warm-up that is long":  {grants(warmedUp(100_001)), "load.warmupSeconds: wanted fewer seconds"},
		"no IDs":                  {grants(func(r *Run) { r.FirstLease = 0 }), "firstLease"},
		"IDs that are not a row":  {grants(func(r *Run) { r.FirstLease++ }), "firstLease"},
		"IDs where none are used": {func(r *Run) { r.FirstLease = 5 * LeaseIDs }, "firstLease"},
		"renewals over Fast":      {func(r *Run) { renewals(1)(r); r.Load.Transport = spec.TransportFast }, "load.transport"},
		"no time to live":         {grants(func(r *Run) { r.Workload.Lease.TTLSeconds = 0 }), "workload.lease.ttlSeconds"},
	})
}

// warmedUp sends 900,000 requests before the window's.
func warmedUp(requests int64) func(*Run) {
	return func(r *Run) {
		r.Load.Requests, r.Load.Rate, r.Load.WarmupSeconds = &requests, &spec.Rate{PerSecond: 1000}, 900
	}
}

// A warm-up may grant the leases that the window does not need.
func TestGrantsMayWarmUpAtARate(t *testing.T) {
	r := valid()
	leasing(spec.Lease{Operation: spec.LeaseGrant})(&r)
	warmedUp(100_000)(&r)
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}
