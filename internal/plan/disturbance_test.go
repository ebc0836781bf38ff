package plan

import (
	"strings"
	"testing"
)

func storm(leases, keysPerLease, ttl int64) Disturbance {
	return Disturbance{Kind: DisturbanceLeaseExpiry, EverySeconds: 10, Storm: &Storm{leases, keysPerLease, ttl}}
}

// The leases of storms are the run's, and not those of the workload.
func TestLeasesOfStorms(t *testing.T) {
	p := valid()
	p.FirstLease, p.Disturbances = 3*LeaseIDs, []Disturbance{storm(1000, 10, 5)}
	for _, n := range []int64{0, 1, leasesOfAKind/2 - 1, leasesOfAKind / 2, 1 << 40} {
		id := p.StormLeaseID(n)
		if !p.OwnsLease(id) || id < p.LeaseID(LeasePreloaded, MaxLeases-1) || id >= p.LeaseID(LeaseOfWarmup, 0) {
			t.Errorf("lease %d has the ID %x", n, id)
		}
	}
	if p.StormLeaseID(0) == p.StormLeaseID(1) || p.StormKeys() != 10_000 {
		t.Errorf("there are %d keys, on leases with one ID", p.StormKeys())
	}
}

// What storms write counts, as far as the plan tells how many there are.
func TestStormsAreExpectedToWrite(t *testing.T) {
	p := valid()
	p.Load.Requests, p.Load.DurationSeconds, p.Load.RatePerSecond = 0, 60, 10
	without, _ := p.WriteEstimate()
	p.Disturbances = []Disturbance{storm(1000, 10, 5)}
	with, ok := p.WriteEstimate()
	if more := with - without; !ok || more < 6*10_000*2*64 || more > 6*10_000*2*200 {
		t.Errorf("six storms of 10,000 keys are expected to write %d bytes (%t)", more, ok)
	}
	p.Load.Requests, p.Load.DurationSeconds = 100, 0
	if _, ok := p.WriteEstimate(); ok {
		t.Error("nobody knows how many storms a number of requests takes")
	}
}

func TestDisturbancesThatCannotBeMade(t *testing.T) {
	compact, defragment := Disturbance{Kind: DisturbanceCompact, EverySeconds: 5, KeepRevisions: 10}, Disturbance{Kind: DisturbanceDefragment, EverySeconds: 1}
	tests := map[string]struct {
		disturbances []Disturbance
		allowed      bool
		// want is a part of the message, empty if the plan is good.
		want string
	}{
		"none":                         {nil, false, ""},
		"both":                         {[]Disturbance{compact, defragment}, true, ""},
		"not allowed to compact":       {[]Disturbance{compact}, false, "guard.allowStoreWide"},
		"not allowed to defragment":    {[]Disturbance{defragment}, false, "guard.allowStoreWide"},
		"twice":                        {[]Disturbance{compact, compact}, true, "each kind once"},
		"an unknown kind":              {[]Disturbance{{Kind: "Reboot", EverySeconds: 1}}, true, "disturbances.kind"},
		"without a pause":              {[]Disturbance{{Kind: DisturbanceCompact}}, true, "disturbances.everySeconds"},
		"less than nothing kept":       {[]Disturbance{{Kind: DisturbanceCompact, EverySeconds: 1, KeepRevisions: -1}}, true, "disturbances.keepRevisions"},
		"a storm":                      {[]Disturbance{storm(1000, 10, 5)}, false, ""},
		"the greatest storm":           {[]Disturbance{storm(100_000, 10, 5)}, false, ""},
		"too great a storm":            {[]Disturbance{storm(100_001, 10, 5)}, false, "disturbances.storm"},
		"a storm of nothing":           {[]Disturbance{storm(0, 1, 5)}, false, "disturbances.storm"},
		"a storm without keys":         {[]Disturbance{storm(1, 0, 5)}, false, "disturbances.storm"},
		"a storm without a time":       {[]Disturbance{storm(1, 1, 0)}, false, "disturbances.storm.ttlSeconds"},
		"no storm":                     {[]Disturbance{{Kind: DisturbanceLeaseExpiry, EverySeconds: 1}}, false, "disturbances.storm"},
		"a storm of another kind":      {[]Disturbance{{Kind: DisturbanceCompact, EverySeconds: 1, Storm: &Storm{1, 1, 1}}}, true, "disturbances.storm"},
		"revisions of a fragmentation": {[]Disturbance{{Kind: DisturbanceDefragment, EverySeconds: 1, KeepRevisions: 1}}, true, "disturbances.keepRevisions"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			p.Disturbances, p.Guard.AllowStoreWide = tc.disturbances, tc.allowed
			if p.Storm() != nil {
				p.FirstLease = 3 * LeaseIDs
			}
			switch err := p.Validate(); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
