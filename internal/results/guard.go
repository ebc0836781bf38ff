package results

import (
	"slices"
	"time"
)

// GuardRule names a rule that ends a load which goes on.
type GuardRule string

// The rules. Got and Limit of what fired are, of GuardErrorRatio, in millionths;
// of GuardDatabaseSize, in bytes; of GuardWALFsync, in seconds.
const (
	GuardAlarm        GuardRule = "Alarm"
	GuardLeaderChange GuardRule = "LeaderChange"
	GuardDatabaseSize GuardRule = "DatabaseSize"
	GuardErrorRatio   GuardRule = "ErrorRatio"
	GuardWALFsync     GuardRule = "WALFsync"
)

var guardRules = []GuardRule{GuardAlarm, GuardLeaderChange, GuardDatabaseSize, GuardErrorRatio, GuardWALFsync}

// Fired is a rule that has ended a client pod's load.
type Fired struct {
	Rule GuardRule
	// Subject is the name of the member that broke the rule; empty for the
	// pod's own requests.
	Subject string
	// Detail says what happened, where that is no number.
	Detail string
	// Got and Limit are 0 where Detail is set.
	Got, Limit float64
	At         time.Time
}

// bare leaves out the texts.
func (f *Fired) bare() *Fired {
	if f == nil {
		return nil
	}
	return &Fired{Rule: f.Rule, Got: f.Got, Limit: f.Limit, At: f.At}
}

// earlierFired is the rule that fired first.
func earlierFired(a, b *Fired) *Fired {
	if a == nil || b != nil && b.At.Before(a.At) {
		return b
	}
	return a
}

// mergeUnwatched keeps one reason of each rule, the same in any order.
func mergeUnwatched(a, b map[GuardRule]string) map[GuardRule]string {
	for _, rule := range sortedKeys(b) {
		if a == nil {
			a = map[GuardRule]string{}
		}
		if reason, ok := a[rule]; !ok || b[rule] < reason {
			a[rule] = b[rule]
		}
	}
	return a
}

// Aspect is what of a target can change under a run.
type Aspect string

// The aspects of a target.
const (
	AspectLeader  Aspect = "Leader"
	AspectVersion Aspect = "Version"
	AspectMembers Aspect = "Members"
)

var aspects = []Aspect{AspectLeader, AspectVersion, AspectMembers}

// MaxChanges bounds the changes of a target that are kept, the first ones.
const MaxChanges = 8

// Change says that the target was no longer what it had been.
type Change struct {
	Aspect Aspect
	// Detail says from what to what.
	Detail string
	At     time.Time
}

func knownRule(r GuardRule) bool { return slices.Contains(guardRules, r) }
