package guard

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Guard checks a load against its stop rules. Each Sees method returns the rule that the new data breaks, or nil.
type Guard struct {
	rules spec.StopRules
	name  func(id string) string

	// leader and term are from the first view that has them.
	leader string
	term   uint64
	// quotas are the largest sizes that the members' databases may reach, by ID. databases follows how fast they grow.
	quotas    map[string]int64
	databases map[string]growth
	// requests are those of this pod; flushes are those of each member, by ID.
	requests trail
	flushes  map[string]*trail
	// unwatched has the first reason why a rule could not be checked; watched has the rules that were checked at least
	// once.
	unwatched map[spec.GuardRule]string
	watched   map[spec.GuardRule]bool
}

// New returns a guard. name returns the name of the member with an ID.
func New(rules spec.StopRules, name func(id string) string) *Guard {
	return &Guard{
		rules: rules, name: name, quotas: map[string]int64{}, databases: map[string]growth{}, flushes: map[string]*trail{},
		unwatched: map[spec.GuardRule]string{}, watched: map[spec.GuardRule]bool{},
	}
}

// Unwatched returns, for each rule that could not be checked all the time, the reason. It begins with
// results.NeverWatched if the rule was not checked once.
func (g *Guard) Unwatched() map[spec.GuardRule]string {
	all := maps.Clone(g.unwatched)
	for rule, reason := range all {
		if !g.watched[rule] {
			all[rule] = results.NeverWatched + reason
		}
	}
	return all
}

// SeesView checks alarms, the leader and the sizes of databases.
func (g *Guard) SeesView(v members.View) *results.Fired {
	g.notice(v)
	for _, see := range []func(members.View) *results.Fired{g.seesAlarm, g.seesLeader, g.seesDatabases, g.seesQuotas} {
		if fired := see(v); fired != nil {
			fired.At = v.At
			return fired
		}
	}
	return nil
}

// notice records what a view lacks. Any member can report alarms and the leader; only the member itself can report its
// database.
func (g *Guard) notice(v members.View) {
	silent, unread, reason := 0, 0, ""
	for _, id := range v.IDs() {
		state := v.Members[id]
		lacks := cmp.Or(state.Problem, state.Unread)
		if lacks != "" {
			unread, reason = unread+1, g.name(id)+" did not report its status: "+lacks
		}
		if state.Problem != "" {
			silent++
		}
		g.checks(g.rules.DatabaseSize != nil, lacks == "", spec.GuardDatabaseSize, reason)
		g.checks(g.quotas[id] > 0, lacks == "", spec.GuardQuota, reason)
	}
	g.checks(g.rules.Alarm, unread < len(v.Members), spec.GuardAlarm, reason)
	g.checks(g.rules.LeaderChange, silent < len(v.Members), spec.GuardLeaderChange, reason)
}

// checks records whether a rule, if the load has it, could be checked, and why not.
func (g *Guard) checks(has, could bool, rule spec.GuardRule, reason string) {
	_, noted := g.unwatched[rule]
	switch {
	case !has:
	case could:
		g.watched[rule] = true
	case !noted:
		g.unwatched[rule] = reason
	}
}

func (g *Guard) seesAlarm(v members.View) *results.Fired {
	for _, id := range v.IDs() {
		if alarm := v.Members[id].Alarm; g.rules.Alarm && alarm != "" {
			return &results.Fired{Rule: spec.GuardAlarm, Subject: g.name(id), Detail: alarm}
		}
	}
	return nil
}

func (g *Guard) seesLeader(v members.View) *results.Fired {
	leader, term := v.Election()
	switch {
	case !g.rules.LeaderChange || leader == "" || term < g.term:
		return nil
	case g.leader == "":
		g.leader, g.term = leader, term
		return nil
	case leader == g.leader && term == g.term:
		return nil
	}
	detail := "an election won by " + g.name(leader) + " (previous leader: " + g.name(g.leader) + ")"
	return &results.Fired{Rule: spec.GuardLeaderChange, Subject: g.name(leader), Detail: detail}
}

func (g *Guard) seesDatabases(v members.View) *results.Fired {
	rule := g.rules.DatabaseSize
	for _, id := range v.IDs() {
		if bytes := v.Members[id].DatabaseBytes; rule != nil && bytes > rule.MaxBytes {
			return &results.Fired{Rule: spec.GuardDatabaseSize, Subject: g.name(id), Got: float64(bytes), Limit: float64(rule.MaxBytes)}
		}
	}
	return nil
}

// SeesSamples checks the members' own metrics.
func (g *Guard) SeesSamples(samples map[string]members.Sample) (first *results.Fired) {
	if g.rules.WALFsync == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(samples)) {
		if fired := g.seesFlushes(id, samples[id]); fired != nil && first == nil {
			first = fired
		}
	}
	return first
}

func (g *Guard) seesFlushes(id string, s members.Sample) *results.Fired {
	timer, served := s.Timers[results.TimerWALFsync]
	reason := g.name(id) + " does not serve this metric"
	if s.Problem != "" {
		reason = g.name(id) + ": " + s.Problem
	}
	could := s.Problem == "" && served
	g.checks(true, could, spec.GuardWALFsync, reason)
	if !could {
		return nil
	}
	if g.flushes[id] == nil {
		g.flushes[id] = &trail{}
	}
	flushes, seconds, ok := g.flushes[id].add(point{s.At, timer.Count, timer.Seconds}, g.rules.WALFsync.For())
	limit := g.rules.WALFsync.MaxMean().Seconds()
	if mean := seconds / flushes; ok && flushes > 0 && mean > limit && !math.IsInf(mean, 0) {
		return &results.Fired{Rule: spec.GuardWALFsync, Subject: g.name(id), Got: mean, Limit: limit, At: s.At}
	}
	return nil
}

// SeesRequests checks how many of this pod's requests have ended so far, and how many of them failed.
func (g *Guard) SeesRequests(at time.Time, ended, failed uint64) *results.Fired {
	rule := g.rules.ErrorRatio
	if rule == nil {
		return nil
	}
	all, bad, ok := g.requests.add(point{at, float64(ended), float64(failed)}, rule.For())
	if ok && results.IsMore(uint64(bad), uint64(all), uint64(rule.MaxPerMillion), 1e6) {
		return &results.Fired{Rule: spec.GuardErrorRatio, Got: 1e6 * bad / all, Limit: float64(rule.MaxPerMillion), At: at}
	}
	return nil
}

// point is a reading of two counters.
type point struct {
	at time.Time
	// count of events, and the sum over them.
	count, sum float64
}

// trail holds readings of counters for as long as a rule looks back.
type trail struct{ points []point }

// add takes the newest reading. It returns the increases since the latest reading that is at least back old; false if
// there is none. If a counter fell, it was reset, and earlier readings are dropped.
func (t *trail) add(p point, back time.Duration) (count, sum float64, ok bool) {
	if n := len(t.points); n > 0 && (p.count < t.points[n-1].count || p.sum < t.points[n-1].sum) {
		t.points = nil
	}
	t.points = append(t.points, p)
	since := p.at.Add(-back)
	for len(t.points) > 1 && !t.points[1].at.After(since) {
		t.points = t.points[1:]
	}
	first := t.points[0]
	return p.count - first.count, p.sum - first.sum, !first.at.After(since)
}
