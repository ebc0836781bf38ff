package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// contest makes a plan of a workload in which clients contend.
func contest(t WorkloadType, c Contest) func(*Plan) {
	return func(p *Plan) {
		p.FirstLease, p.Workload = 5*LeaseIDs, Workload{Type: t, Contest: &c}
	}
}

func TestDecodeReturnsAContest(t *testing.T) {
	for _, workload := range []WorkloadType{WorkloadLock, WorkloadElection} {
		t.Run(string(workload), func(t *testing.T) {
			want := valid()
			contest(workload, Contest{Names: 1000, HoldMilliseconds: 20})(&want)
			data, err := want.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(data)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v, plan changed on its way (-want +got):\n%s", err, diff)
			}
			if got.Workload.PreloadsKeys() || got.LeaseCount() != 1000 || !got.UsesSessions() || got.DrainLimit() != 20*time.Second+20*time.Millisecond {
				t.Errorf("preloads keys: %v, %d leases, drains for %v", got.Workload.PreloadsKeys(), got.LeaseCount(), got.DrainLimit())
			}
			estimate, known := got.WriteEstimate()
			if entry := entryBytes(len(got.ContestKey(0))); !known || estimate != int64(200_000*entry) {
				t.Errorf("%d bytes (known: %v) are expected of 100,000 keys that are written and deleted, wanted %.0f", estimate, known, 200_000*entry)
			}
		})
	}
}

// Clients are dealt out to names, and all names lie in the run's prefix.
func TestClientsAreDealtOutToNames(t *testing.T) {
	p := valid()
	contest(WorkloadLock, Contest{Names: 11})(&p)
	contenders, keys := map[string]int{}, map[string]bool{}
	for client := range p.Load.Clients {
		name, key := p.ContestName(client), p.ContestKey(client)
		if !strings.HasPrefix(key, name+"/") || !strings.HasPrefix(name, p.LockPrefix()) || len(key) != len(p.ContestKey(0)) {
			t.Errorf("client %d contends with the key %q for %q", client, key, name)
		}
		contenders[name]++
		keys[key] = true
	}
	for name, n := range contenders {
		if n != 90 && n != 91 {
			t.Errorf("%d clients contend for %q, wanted 1000 / 11", n, name)
		}
	}
	if len(contenders) != 11 || len(keys) != p.Load.Clients {
		t.Errorf("1000 clients contend for %d names with %d keys", len(contenders), len(keys))
	}
}

func TestValidateRefusesAContest(t *testing.T) {
	good := Contest{Names: 10}
	tests := map[string]struct {
		change func(*Plan)
		want   string
	}{
		"without its field":       {func(p *Plan) { contest(WorkloadLock, good)(p); p.Workload.Contest = nil }, "workload.contest"},
		"of another workload":     {func(p *Plan) { p.Workload.Contest = &good }, "workload.contest"},
		"no name":                 {contest(WorkloadElection, Contest{}), "workload.contest.names"},
		"names without contender": {contest(WorkloadLock, Contest{Names: 1001}), "workload.contest.names"},
		"a hold that is over":     {contest(WorkloadLock, Contest{Names: 1, HoldMilliseconds: -1}), "workload.contest.holdMilliseconds"},
		"without leases":          {func(p *Plan) { contest(WorkloadLock, good)(p); p.FirstLease = 0 }, "firstLease"},
		"over Fast":               {func(p *Plan) { contest(WorkloadLock, good)(p); p.Load.Transport = TransportFast }, "load.transport"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			tc.change(&p)
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
