package plan

import (
	"errors"
	"fmt"
)

// WorkloadLease grants, renews or revokes a lease with each request.
const WorkloadLease WorkloadType = "Lease"

// LeaseOperation is what a request of WorkloadLease does.
type LeaseOperation string

// The operations on leases.
const (
	LeaseGrant     LeaseOperation = "Grant"
	LeaseKeepAlive LeaseOperation = "KeepAlive"
	LeaseRevoke    LeaseOperation = "Revoke"
)

// Lease is what each request of WorkloadLease does.
type Lease struct {
	Operation LeaseOperation `json:"operation"`
	// TTLSeconds of every lease.
	TTLSeconds int64 `json:"ttlSeconds"`
	// Count is how many leases LeaseKeepAlive renews in turn.
	Count int64 `json:"count,omitempty"`
	// Stream lets each client renew over one stream that stays open; else each
	// renewal opens a stream of its own.
	Stream bool `json:"stream,omitempty"`
}

// The IDs of a run's leases are the LeaseIDs numbers from Plan.FirstLease on, so
// that whoever finds a lease knows whose it is. They are divided by what leases
// are for, in parts of leasesOfAKind.
const (
	// LeaseIDs is a power of 16: a run's leases share the digits before the last
	// six of their hexadecimal ID.
	LeaseIDs = 1 << 24
	// MaxLeases bounds the leases that a run grants on purpose.
	MaxLeases = 1_000_000

	leasesOfAKind = 1 << 22
)

// LeaseKind is what a lease is granted for.
type LeaseKind int64

// The kinds of leases.
const (
	// LeasePreloaded is granted before the load.
	LeasePreloaded LeaseKind = iota
	LeaseOfWarmup
	LeaseOfWindow
	// LeaseOfClient keeps the locks of a client.
	LeaseOfClient
)

// LeaseID returns the ID of the n-th lease of a kind, from 0. After four
// million, IDs come again.
func (p Plan) LeaseID(kind LeaseKind, n int64) int64 {
	return p.FirstLease + int64(kind)*leasesOfAKind + n%leasesOfAKind
}

// OwnsLease says whether a lease is the run's.
func (p Plan) OwnsLease(id int64) bool {
	return p.UsesLeases() && id >= p.FirstLease && id < p.FirstLease+LeaseIDs
}

// UsesLeases says whether the run may grant leases.
func (p Plan) UsesLeases() bool {
	return p.Workload.Type == WorkloadLease || p.Workload.UsesRegistry() || p.UsesSessions() || p.Storm() != nil
}

// StormLeaseID returns the ID of the n-th lease of all storms, from 0: they have
// the IDs that leases of LeasePreloaded leave, for of these there are MaxLeases
// at most. After two million, IDs come again.
func (p Plan) StormLeaseID(n int64) int64 {
	return p.LeaseID(LeasePreloaded, leasesOfAKind/2+n%(leasesOfAKind/2))
}

// LeaseCount is how many leases the run has at most, as far as its plan tells.
func (p Plan) LeaseCount() int64 {
	switch {
	case p.UsesSessions():
		return int64(p.Load.Clients)
	case p.Workload.Lease == nil:
		return 0
	case p.Workload.Lease.Operation == LeaseKeepAlive:
		return p.Workload.Lease.Count
	default:
		return p.Load.Requests
	}
}

// validateLeases looks at what of leases concerns more than the workload.
func (p Plan) validateLeases() error {
	isBlock := p.FirstLease > 0 && p.FirstLease%LeaseIDs == 0
	errs := []error{check(isBlock == p.UsesLeases(), "firstLease", fmt.Sprintf("a multiple of %d if, and only if, the workload needs leases", LeaseIDs), p.FirstLease)}
	if l := p.Workload.Lease; l != nil && l.Operation != LeaseKeepAlive {
		errs = append(errs, check(p.Load.Requests >= 1 && p.Load.Requests <= MaxLeases, "load.requests",
			fmt.Sprintf("1 to %d, for each request leaves or uses up a lease", MaxLeases), p.Load.Requests))
		errs = append(errs, check(l.Operation != LeaseRevoke || p.Load.WarmupSeconds == 0, "load.warmupSeconds",
			"0, for a warm-up would use up the leases to revoke", p.Load.WarmupSeconds))
		errs = append(errs, p.validateWarmupGrants())
	}
	return errors.Join(errs...)
}

// validateWarmupGrants bounds the leases that a warm-up adds to those of the window:
// they are all kept until the run ends, and have IDs of their own.
func (p Plan) validateWarmupGrants() error {
	l := p.Load
	if p.Workload.Lease.Operation != LeaseGrant || l.WarmupSeconds == 0 {
		return nil
	}
	if !l.OpenLoop() {
		return check(false, "load.warmupSeconds", "0 in a closed loop of grants, whose number nothing would bound", l.WarmupSeconds)
	}
	granted := float64(l.WarmupRatePerSecond())*float64(l.WarmupSeconds) + float64(l.Requests)
	return check(granted <= MaxLeases, "load.warmupSeconds", fmt.Sprintf("so few that at most %d leases are granted with those of the window", MaxLeases), l.WarmupSeconds)
}

func (l *Lease) validate(int64) error {
	keepAlive := l.Operation == LeaseKeepAlive
	return errors.Join(
		check(keepAlive || l.Operation == LeaseGrant || l.Operation == LeaseRevoke, "workload.lease.operation", "Grant, KeepAlive or Revoke", l.Operation),
		check(l.TTLSeconds >= 1 && l.TTLSeconds <= maxTTLSeconds, "workload.lease.ttlSeconds", fmt.Sprintf("1 to %d", maxTTLSeconds), l.TTLSeconds),
		check(keepAlive == (l.Count > 0) && l.Count >= 0 && l.Count <= MaxLeases, "workload.lease.count",
			fmt.Sprintf("1 to %d for KeepAlive, else 0", MaxLeases), l.Count),
		check(keepAlive || !l.Stream, "workload.lease.stream", "to be set for KeepAlive only", l.Stream),
	)
}
