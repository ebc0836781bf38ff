package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// lease grants, renews or revokes a lease with each request.
type lease struct {
	base
	settings spec.Lease
}

func newLease(w spec.Workload) kind { return lease{settings: *w.Lease} }

var leaseOperations = map[spec.LeaseOperation]spec.Operation{
	spec.LeaseGrant:     spec.OperationLeaseGrant,
	spec.LeaseKeepAlive: spec.OperationLeaseKeepAlive,
	spec.LeaseRevoke:    spec.OperationLeaseRevoke,
}

func (k lease) operations() []spec.Operation {
	return []spec.Operation{leaseOperations[k.settings.Operation]}
}

// at renews the preloaded leases in turn, revokes each of them once, or grants a new one.
func (k lease) at(w *Workload, stream Stream, n int64) Operation {
	op := Operation{Kind: leaseOperations[k.settings.Operation], Subject: OnLease}
	switch {
	case k.settings.KeepAlive != nil:
		op.Lease = w.run.LeaseID(LeasePreloaded, n%k.settings.KeepAlive.Leases)
	case k.settings.Operation == spec.LeaseRevoke:
		op.Lease = w.run.LeaseID(LeasePreloaded, n)
	case stream == Warmup:
		op.Lease = w.run.LeaseID(LeaseOfWarmup, n)
	default:
		op.Lease = w.run.LeaseID(LeaseOfWindow, n)
	}
	return op
}

func (k lease) leases(r *Run) int64 {
	if k.settings.KeepAlive != nil {
		return k.settings.KeepAlive.Leases
	}
	return r.Load.RequestBound()
}

func (k lease) preload(r *Run) int64 {
	if k.settings.Operation == spec.LeaseGrant {
		return 0
	}
	return k.leases(r)
}

func (lease) preloaded(w *Workload, number int64) Operation {
	return Operation{Kind: spec.OperationLeaseGrant, Subject: OnLease, Lease: w.run.LeaseID(LeasePreloaded, number)}
}

func (k lease) check(r *Run) []error {
	s, renews := k.settings, k.settings.Operation == spec.LeaseKeepAlive
	errs := []error{
		oneOf("workload.lease.operation", s.Operation, spec.LeaseGrant, spec.LeaseKeepAlive, spec.LeaseRevoke),
		Wanted(s.TTLSeconds >= 1 && s.TTLSeconds <= spec.MaxLeaseTTL, "workload.lease.ttlSeconds", fmt.Sprintf("1 to %d", spec.MaxLeaseTTL), s.TTLSeconds),
		Wanted(renews == (s.KeepAlive != nil), "workload.lease.keepAlive", "to be set for KeepAlive, and for nothing else", s.KeepAlive != nil),
	}
	if s.KeepAlive != nil {
		return append(errs,
			oneOf("workload.lease.keepAlive.mode", s.KeepAlive.Mode, spec.KeepAliveOnce, spec.KeepAliveStream),
			Wanted(s.KeepAlive.Leases >= 1 && s.KeepAlive.Leases <= spec.MaxLeases, "workload.lease.keepAlive.leases", fmt.Sprintf("1 to %d", spec.MaxLeases), s.KeepAlive.Leases))
	}
	requests := r.Load.RequestBound()
	return append(errs,
		Wanted(requests >= 1 && requests <= spec.MaxLeases, "load.requests", fmt.Sprintf("1 to %d: each request leaves or uses up a lease", spec.MaxLeases), requests),
		Wanted(s.Operation != spec.LeaseRevoke || r.Load.WarmupSeconds == 0, "load.warmupSeconds", "0: a warm-up would use up the leases to revoke", r.Load.WarmupSeconds),
		k.checkWarmup(r))
}

// checkWarmup limits the leases that a warm-up grants. They have their own IDs, and are kept until the run ends
// together with those of the window.
func (k lease) checkWarmup(r *Run) error {
	l := r.Load
	if k.settings.Operation != spec.LeaseGrant || l.WarmupSeconds == 0 {
		return nil
	}
	if !l.OpenLoop() {
		return Wanted(false, "load.warmupSeconds", "0 in a closed loop of grants: nothing would bound their number", l.WarmupSeconds)
	}
	granted := float64(l.WarmupPerSecond())*float64(l.WarmupSeconds) + float64(l.RequestBound())
	return Wanted(granted <= spec.MaxLeases, "load.warmupSeconds", fmt.Sprintf("fewer seconds: warm-up and window together may grant at most %d leases", spec.MaxLeases), l.WarmupSeconds)
}

func (k lease) words() Words {
	words := k.base.words()
	if k.settings.KeepAlive != nil {
		name := "LEASE-KEEPALIVE-STREAM"
		if k.settings.KeepAlive.Mode == spec.KeepAliveOnce {
			name = "LEASE-KEEPALIVE"
		}
		words.Names = map[spec.Operation]string{spec.OperationLeaseKeepAlive: name}
	}
	return words
}
