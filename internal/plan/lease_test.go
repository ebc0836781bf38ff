package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lease makes a plan of the workload Lease.
func lease(l Lease) func(*Plan) {
	return func(p *Plan) {
		p.FirstLease = 5 * LeaseIDs
		l.TTLSeconds = 60
		p.Workload = Workload{Type: WorkloadLease, Lease: &l}
	}
}

func TestDecodeReturnsALease(t *testing.T) {
	for name, l := range map[string]Lease{
		"grant": {Operation: LeaseGrant}, "revoke": {Operation: LeaseRevoke},
		"renewals once": {Operation: LeaseKeepAlive, Count: 1}, "renewals over streams": {Operation: LeaseKeepAlive, Count: MaxLeases, Stream: true},
	} {
		t.Run(name, func(t *testing.T) {
			want := valid()
			lease(l)(&want)
			data, err := want.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(data)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v, plan changed on its way (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestValidateRefusesALease(t *testing.T) {
	tests := map[string]struct {
		lease  Lease
		change func(*Plan)
		want   string
	}{
		"no operation":           {lease: Lease{}, want: "workload.lease.operation"},
		"no lease to renew":      {lease: Lease{Operation: LeaseKeepAlive}, want: "workload.lease.count"},
		"too many to renew":      {lease: Lease{Operation: LeaseKeepAlive, Count: MaxLeases + 1}, want: "workload.lease.count"},
		"a stream of grants":     {lease: Lease{Operation: LeaseGrant, Stream: true}, want: "workload.lease.stream"},
		"grants without bound":   {Lease{Operation: LeaseGrant}, func(p *Plan) { p.Load.Requests, p.Load.DurationSeconds = 0, 5 }, "load.requests"},
		"too many grants":        {Lease{Operation: LeaseGrant}, func(p *Plan) { p.Load.Requests = MaxLeases + 1 }, "load.requests"},
		"a warm-up that revokes": {Lease{Operation: LeaseRevoke}, func(p *Plan) { p.Load.WarmupSeconds = 1 }, "load.warmupSeconds"},
		"a warm-up of grants":    {Lease{Operation: LeaseGrant}, func(p *Plan) { p.Load.WarmupSeconds = 1 }, "load.warmupSeconds: wanted 0 in a closed loop"},
		"a warm-up that is long": {Lease{Operation: LeaseGrant}, func(p *Plan) {
			p.Load.Requests, p.Load.RatePerSecond, p.Load.WarmupSeconds = 100_001, 1000, 900
		}, "load.warmupSeconds: wanted so few"},
		"no IDs":                  {Lease{Operation: LeaseGrant}, func(p *Plan) { p.FirstLease = 0 }, "firstLease"},
		"IDs that are not a row":  {Lease{Operation: LeaseGrant}, func(p *Plan) { p.FirstLease++ }, "firstLease"},
		"IDs where none are used": {Lease{Operation: LeaseGrant}, func(p *Plan) { p.Workload = valid().Workload }, "firstLease"},
		"renewals over Fast":      {Lease{Operation: LeaseKeepAlive, Count: 1}, func(p *Plan) { p.Load.Transport = TransportFast }, "load.transport"},
		"no time to live":         {Lease{Operation: LeaseGrant}, func(p *Plan) { p.Workload.Lease.TTLSeconds = 0 }, "workload.lease.ttlSeconds"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			lease(tc.lease)(&p)
			if tc.change != nil {
				tc.change(&p)
			}
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}

// A warm-up may grant what the window leaves of all leases.
func TestGrantsMayWarmUpAtARate(t *testing.T) {
	p := valid()
	lease(Lease{Operation: LeaseGrant})(&p)
	p.Load.Requests, p.Load.RatePerSecond, p.Load.WarmupSeconds = 100_000, 1000, 900
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

func TestLeasesOfOneRunHaveDifferentIDs(t *testing.T) {
	p := valid()
	lease(Lease{Operation: LeaseGrant})(&p)
	seen := map[int64]bool{}
	for _, kind := range []LeaseKind{LeasePreloaded, LeaseOfWarmup, LeaseOfWindow, LeaseOfClient} {
		for _, n := range []int64{0, 1, MaxLeases, leasesOfAKind - 1} {
			id := p.LeaseID(kind, n)
			if seen[id] || !p.OwnsLease(id) {
				t.Errorf("lease %d of kind %d has the ID %x, which another has, or is not the run's", n, kind, id)
			}
			seen[id] = true
		}
	}
	if p.LeaseID(LeasePreloaded, leasesOfAKind) != p.FirstLease {
		t.Error("IDs do not come again")
	}
}
