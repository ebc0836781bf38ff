package guard

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Guard holds a load to its rules. Each Sees method returns the rule that what
// it is told breaks, nil if it breaks none.
type Guard struct {
	rules spec.StopRules
	name  func(id string) string

	// leader and term are those of the first view that knew them.
	leader string
	term   uint64
	// requests are of this pod; flushes of each member, by ID.
	requests trail
	flushes  map[string]*trail
	// unwatched has the first reason for which a rule was not watched.
	unwatched map[spec.GuardRule]string
}

// New returns a guard. name returns what people call the member with an ID.
func New(rules spec.StopRules, name func(id string) string) *Guard {
	return &Guard{rules: rules, name: name, flushes: map[string]*trail{}, unwatched: map[spec.GuardRule]string{}}
}

// Unwatched says, of each rule that could not be watched all the time, why.
func (g *Guard) Unwatched() map[spec.GuardRule]string { return maps.Clone(g.unwatched) }

// SeesView looks at alarms, the leader and the sizes of databases.
func (g *Guard) SeesView(v members.View) *results.Fired {
	g.notice(v)
	for _, see := range []func(members.View) *results.Fired{g.seesAlarm, g.seesLeader, g.seesDatabases} {
		if fired := see(v); fired != nil {
			fired.At = v.At
			return fired
		}
	}
	return nil
}

// notice notes what a view does not show: of alarms and the leader any member
// can tell, of its database only the member itself.
func (g *Guard) notice(v members.View) {
	silent, reason := 0, ""
	for _, id := range v.IDs() {
		if problem := v.Members[id].Problem; problem != "" {
			silent, reason = silent+1, g.name(id)+" did not say how it is: "+problem
			g.misses(g.rules.DatabaseSize != nil, spec.GuardDatabaseSize, reason)
		}
	}
	if silent == len(v.Members) {
		g.misses(g.rules.Alarm, spec.GuardAlarm, reason)
		g.misses(g.rules.LeaderChange, spec.GuardLeaderChange, reason)
	}
}

// misses notes why a rule, if the load has it, was not watched.
func (g *Guard) misses(has bool, rule spec.GuardRule, reason string) {
	if _, noted := g.unwatched[rule]; has && !noted {
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
	detail := "an election, which " + g.name(leader) + " won"
	if leader != g.leader {
		detail += " over " + g.name(g.leader)
	}
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

// SeesSamples looks at the members' own metrics.
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
	switch {
	case s.Problem != "":
		g.misses(true, spec.GuardWALFsync, g.name(id)+": "+s.Problem)
		return nil
	case !served:
		g.misses(true, spec.GuardWALFsync, g.name(id)+" does not serve this metric")
		return nil
	case g.flushes[id] == nil:
		g.flushes[id] = &trail{}
	}
	flushes, seconds, ok := g.flushes[id].add(point{s.At, timer.Count, timer.Seconds}, g.rules.WALFsync.For())
	limit := g.rules.WALFsync.MaxMean().Seconds()
	if mean := seconds / flushes; ok && flushes > 0 && mean > limit && !math.IsInf(mean, 0) {
		return &results.Fired{Rule: spec.GuardWALFsync, Subject: g.name(id), Got: mean, Limit: limit, At: s.At}
	}
	return nil
}

// SeesRequests looks at how many of this pod's requests have ended, and how
// many of these had failed, by this time.
func (g *Guard) SeesRequests(at time.Time, ended, failed uint64) *results.Fired {
	rule := g.rules.ErrorRatio
	if rule == nil {
		return nil
	}
	all, bad, ok := g.requests.add(point{at, float64(ended), float64(failed)}, rule.For())
	if ratio := 1e6 * bad / all; ok && all > 0 && ratio > float64(rule.MaxPerMillion) {
		return &results.Fired{Rule: spec.GuardErrorRatio, Got: ratio, Limit: float64(rule.MaxPerMillion), At: at}
	}
	return nil
}
