package workload

import (
	"errors"
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// The IDs of a run's leases are the LeaseIDs numbers from Run.FirstLease on, so the ID of a lease shows which run it
// belongs to. They are divided by kind, in parts of leasesOfAKind.
const (
	// LeaseIDs is a power of 16: all leases of a run share the digits of their hexadecimal ID before the last six.
	LeaseIDs = 1 << 24

	leasesOfAKind = 1 << 22
	// leasesAsItGoes means that a run grants leases, but their number is not known in advance.
	leasesAsItGoes = -1
)

// SessionTTLSeconds is the time to live of a client's lease, the default of clientv3's sessions. The lock of a killed
// client lasts that long.
const SessionTTLSeconds = 60

// LeaseKind is the purpose of a lease.
type LeaseKind int64

// The kinds of leases.
const (
	// LeasePreloaded is granted before the load.
	LeasePreloaded LeaseKind = iota
	LeaseOfWarmup
	LeaseOfWindow
	// LeaseOfClient holds the locks of a client.
	LeaseOfClient
)

// LeaseID returns the ID of the n-th lease of a kind, from 0. After four million, IDs repeat.
func (r *Run) LeaseID(kind LeaseKind, n int64) int64 {
	return r.FirstLease + int64(kind)*leasesOfAKind + n%leasesOfAKind
}

// OwnsLease reports whether a lease belongs to the run.
func (r *Run) OwnsLease(id int64) bool {
	return r.UsesLeases() && id >= r.FirstLease && id < r.FirstLease+LeaseIDs
}

// UsesLeases reports whether the run may grant leases.
func (r *Run) UsesLeases() bool {
	return r.kind().leases(r) != 0 || r.Storm() != nil
}

// UsesSessions reports whether each client has a session: a lease that it keeps alive and to which its locks are
// attached.
func (r *Run) UsesSessions() bool { return r.kind().sessions() }

// LeaseCount is the largest number of leases that the workload grants, as far as it is known.
func (r *Run) LeaseCount() int64 { return max(r.kind().leases(r), 0) }

// Storm returns the settings of the leases that expire together; nil if there are none.
func (r *Run) Storm() *spec.LeaseExpirySettings {
	for _, d := range r.Disturbances {
		if d.LeaseExpiry != nil {
			return d.LeaseExpiry
		}
	}
	return nil
}

// StormKeys is how many keys expire together each time; 0 if none do.
func (r *Run) StormKeys() int64 {
	if s := r.Storm(); s != nil {
		return s.Leases * s.KeysPerLease
	}
	return 0
}

// StormLeaseID returns the ID of the n-th lease, from 0, of those that expire together. These use the IDs of
// LeasePreloaded above spec.MaxLeases, which is the most that preloaded leases use. After two million, IDs repeat.
func (r *Run) StormLeaseID(n int64) int64 {
	return r.LeaseID(LeasePreloaded, leasesOfAKind/2+n%(leasesOfAKind/2))
}

// storms returns how often leases expire together in the window; ok is false if the target decides that.
func (r *Run) storms() (n int64, ok bool) {
	for _, d := range r.Disturbances {
		if d.LeaseExpiry != nil {
			return int64(r.Load.Duration() / max(d.Every(), 1)), r.Load.Duration() > 0
		}
	}
	return 0, true
}

func (r *Run) checkLeaseIDs() error {
	isBlock := r.FirstLease > 0 && r.FirstLease%LeaseIDs == 0
	return Wanted(isBlock == r.UsesLeases(), "firstLease", fmt.Sprintf("a multiple of %d if, and only if, the run needs leases", LeaseIDs), r.FirstLease)
}

// maxStormKeys bounds the keys that expire together.
const maxStormKeys = 1_000_000

func (r *Run) checkStorm() error {
	s := r.Storm()
	if s == nil {
		return nil
	}
	return errors.Join(
		Wanted(s.Leases >= 1 && s.KeysPerLease >= 1 && s.Leases <= maxStormKeys/s.KeysPerLease, "disturbances.leaseExpiry",
			fmt.Sprintf("1 to %d keys on at least one lease", maxStormKeys), *s),
		Wanted(s.TTLSeconds >= 1 && s.TTLSeconds <= spec.MaxLeaseTTL, "disturbances.leaseExpiry.ttlSeconds", fmt.Sprintf("1 to %d", spec.MaxLeaseTTL), s.TTLSeconds),
	)
}
