package guard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const mb = 1_000_000

// near has two members; only a reports a quota.
func near(rules spec.StopRules, quota, bytes int64) *Guard {
	g := of(rules)
	g.LimitQuotas([]results.Member{{ID: "a", QuotaBytes: quota, DatabaseBytes: bytes}, {ID: "b", DatabaseBytes: bytes}})
	return g
}

func sized(at time.Time, a, b int64) members.View {
	return members.View{At: at, Members: map[string]members.State{"a": {DatabaseBytes: a}, "b": {DatabaseBytes: b}}}
}

func TestTheRuleQuota(t *testing.T) {
	quota := spec.StopRules{Quota: true}
	for name, tc := range map[string]struct {
		rules        spec.StopRules
		quota, start int64
		now          int64
		want         *results.Fired
	}{
		"80 % of the quota":              {quota, 100 * mb, 10 * mb, 80 * mb, nil},
		"more":                           {quota, 100 * mb, 10 * mb, 80*mb + 1, &results.Fired{Rule: spec.GuardQuota, Subject: "etcd-a", Got: 80*mb + 1, Limit: 80 * mb, At: begin}},
		"half of what was free":          {quota, 100 * mb, 90 * mb, 95 * mb, nil},
		"more than half":                 {quota, 100 * mb, 90 * mb, 95*mb + 1, &results.Fired{Rule: spec.GuardQuota, Subject: "etcd-a", Got: 95*mb + 1, Limit: 95 * mb, At: begin}},
		"no rule":                        {spec.StopRules{}, 100 * mb, 10 * mb, 99 * mb, nil},
		"a member that reports no quota": {quota, 0, 10 * mb, 1 << 50, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := near(tc.rules, tc.quota, tc.start).SeesView(sized(begin, tc.now, 1<<50))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLooksComeMoreOftenNearTheQuota(t *testing.T) {
	for name, tc := range map[string]struct {
		quota, bytes, then int64
		want               time.Duration
	}{
		"far away":               {2000 * mb, 10 * mb, 11 * mb, time.Second},
		"little room":            {50 * mb, 0, 0, 100 * time.Millisecond},
		"it grows by 1 GB/s":     {5000 * mb, 0, 2000 * mb, 500 * time.Millisecond},
		"the limit is very near": {50 * mb, 39 * mb, 39 * mb, shortestLook},
		"no quota":               {0, 0, 1 << 50, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			g := near(spec.StopRules{Quota: true}, tc.quota, 0)
			g.SeesView(sized(begin, tc.bytes, 0))
			g.SeesView(sized(after(2), tc.then, 0))
			if got := g.NextLook(time.Second); got != tc.want {
				t.Errorf("the next look is after %v, wanted %v", got, tc.want)
			}
		})
	}
}
