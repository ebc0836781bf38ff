package etcd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// under is a plan of another run under another prefix.
func under(endpoints []string, prefix, uid string) plan.Plan {
	return planFor(endpoints, func(p *plan.Plan) { p.Prefix, p.RunUID = prefix, uid })
}

// nested are two prefixes of which one lies within the other. names is what the error of the second run must contain.
type nested struct{ first, second, names string }

// refusesNested checks that a run does not begin if its keys could be taken for those of another run, and that it then
// changes nothing.
func refusesNested(t *testing.T, client *clientv3.Client, tests map[string]nested, driver func(prefix, uid string) load.Driver) {
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			first, second := driver(tc.first, otherUID), driver(tc.second, ownUID)
			if err := first.Claim(withTimeout(t)); err != nil {
				t.Fatal(err)
			}
			before := keysUnder(t, client, "bench/")
			wantFailure(t, second.Claim(withTimeout(t)), results.FailurePrefixNotEmpty, tc.second, tc.names)
			if diff := cmp.Diff(before, keysUnder(t, client, "bench/")); diff != "" {
				t.Errorf("keys after the claim that failed (-want +got):\n%s", diff)
			}
			for _, d := range []load.Driver{first, second} {
				if err := d.Claim(withTimeout(t)); err != nil {
					t.Errorf("claiming a free prefix: %v", err)
				}
				if _, err := d.Release(withTimeout(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestNoPrefixLiesWithinAnother(t *testing.T) {
	cluster, client := oneMember(t)
	refusesNested(t, client, map[string]nested{
		"the second within the first":  {"bench/", "bench/1/", otherUID},
		"deep within the first":        {"bench/", "bench/1/2/3/", otherUID},
		"the first within the second":  {"bench/1/", "bench/", ".owner"},
		"beside the load's keys":       {"bench/", "bench/.lock/", otherUID},
		"an empty part, and the first": {"bench/", "bench//", otherUID},
	}, func(prefix, uid string) load.Driver { return newDriver(t, under(cluster.Endpoints, prefix, uid), 0) })
}

// One transaction checks all prefixes around the deepest one.
func TestTheDeepestPrefixIsClaimed(t *testing.T) {
	cluster, client := oneMember(t)
	p := under(cluster.Endpoints, strings.Repeat("p/", 64), ownUID)
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, p, 0)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	if cleaning, err := d.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
		t.Errorf("got %s, %v", cleaning, err)
	}
	if left := keysUnder(t, client, "p/"); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}
