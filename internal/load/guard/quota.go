package guard

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// quotaPercent is how much of its quota a member's database may use, in percent.
	quotaPercent = 80
	// freePercent is how much of the space that was free at the start the database may use, in percent.
	freePercent = 50
)

// growth is how fast a member's database grows.
type growth struct {
	at    time.Time
	bytes int64
	// perSecond is over the last two views; 0 after one view, or if the database did not grow.
	perSecond float64
}

// LimitQuotas sets the limits of the rule Quota from the members before the first write. A member that reports no quota
// has none.
func (g *Guard) LimitQuotas(all []results.Member) {
	for _, m := range all {
		if free := m.QuotaBytes - m.DatabaseBytes; g.rules.Quota && m.QuotaBytes > 0 {
			g.quotas[m.ID] = max(m.QuotaBytes/100*quotaPercent, m.DatabaseBytes+max(free, 0)/100*freePercent)
		}
	}
}

func (g *Guard) seesQuotas(v members.View) *results.Fired {
	for _, id := range v.IDs() {
		bytes, limit := v.Members[id].DatabaseBytes, g.quotas[id]
		if limit > 0 && bytes > limit {
			return &results.Fired{Rule: spec.GuardQuota, Subject: g.name(id), Got: float64(bytes), Limit: float64(limit)}
		}
		g.grows(id, v.At, bytes)
	}
	return nil
}

func (g *Guard) grows(id string, at time.Time, bytes int64) {
	before, seen := g.databases[id]
	now := growth{at: at, bytes: bytes}
	if passed := at.Sub(before.at).Seconds(); seen && passed > 0 {
		now.perSecond = max(float64(bytes-before.bytes)/passed, 0)
	}
	g.databases[id] = now
}

const (
	// shortestLook is the shortest time between two views.
	shortestLook = 50 * time.Millisecond
	// fastGrowth is how fast a database can begin to grow, in bytes per second.
	fastGrowth = 100e6
	// looksLeft is how many more views there are until the limit, at the current growth.
	looksLeft = 4
)

// NextLook returns how long the next view may wait, at most atMost, so that no database can outgrow its limit unseen.
func (g *Guard) NextLook(atMost time.Duration) time.Duration {
	next := atMost.Seconds()
	for id, limit := range g.quotas {
		d := g.databases[id]
		next = min(next, float64(limit-d.bytes)/max(d.perSecond, fastGrowth)/looksLeft)
	}
	return max(time.Duration(next*float64(time.Second)), shortestLook)
}
