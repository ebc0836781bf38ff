package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func storm(leases, keysPerLease, ttl int64) spec.Disturbance {
	return spec.Disturbance{
		Type: spec.DisturbanceLeaseExpiry, EverySeconds: 10,
		LeaseExpiry: &spec.LeaseExpirySettings{Leases: leases, KeysPerLease: keysPerLease, TTLSeconds: ttl},
	}
}

func TestLeasesOfOneRunHaveDifferentIDs(t *testing.T) {
	r := valid()
	leasing(spec.Lease{Operation: spec.LeaseGrant})(&r)
	seen := map[int64]bool{}
	for _, kind := range []LeaseKind{LeasePreloaded, LeaseOfWarmup, LeaseOfWindow, LeaseOfClient} {
		for _, n := range []int64{0, 1, spec.MaxLeases, leasesOfAKind - 1} {
			id := r.LeaseID(kind, n)
			if seen[id] || !r.OwnsLease(id) {
				t.Errorf("lease %d of kind %d has the ID %x, which another has, or is not the run's", n, kind, id)
			}
			seen[id] = true
		}
	}
	if r.LeaseID(LeasePreloaded, leasesOfAKind) != r.FirstLease {
		t.Error("IDs do not repeat")
	}
}

// The leases of storms belong to the run, but not to the workload.
func TestLeasesOfStorms(t *testing.T) {
	r := valid()
	r.FirstLease, r.Disturbances = 3*LeaseIDs, []spec.Disturbance{storm(1000, 10, 5)}
	for _, n := range []int64{0, 1, leasesOfAKind/2 - 1, leasesOfAKind / 2, 1 << 40} {
		id := r.StormLeaseID(n)
		if !r.OwnsLease(id) || id < r.LeaseID(LeasePreloaded, spec.MaxLeases-1) || id >= r.LeaseID(LeaseOfWarmup, 0) {
			t.Errorf("lease %d has the ID %x", n, id)
		}
	}
	if r.StormLeaseID(0) == r.StormLeaseID(1) || r.StormKeys() != 10_000 {
		t.Errorf("there are %d keys, on leases with one ID", r.StormKeys())
	}
}
