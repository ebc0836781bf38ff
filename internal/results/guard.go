package results

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Fired is a rule of the guard that has ended a client pod's load. The unit of Got and Limit depends on the rule:
// millionths for spec.GuardErrorRatio, bytes for spec.GuardDatabaseSize, seconds for spec.GuardWALFsync.
type Fired struct {
	Rule spec.GuardRule
	// Subject is the name of the member that broke the rule; empty for the pod's own requests.
	Subject string
	// Detail describes what happened if that is not a number.
	Detail string
	// Got and Limit are 0 if Detail is set.
	Got, Limit float64
	At         time.Time
}

// earlierFired returns the rule that fired first.
func earlierFired(a, b *Fired) *Fired {
	if a == nil || b != nil && b.At.Before(a.At) {
		return b
	}
	return a
}

// NeverWatched is the beginning of the reason in Snapshot.Unwatched for a rule that was not checked once.
const NeverWatched = "never: "

// mergeUnwatched keeps one reason per rule, independent of the order.
func mergeUnwatched(a, b map[spec.GuardRule]string) map[spec.GuardRule]string {
	for _, rule := range slices.Sorted(maps.Keys(b)) {
		if a == nil {
			a = map[spec.GuardRule]string{}
		}
		if reason, ok := a[rule]; !ok || b[rule] < reason {
			a[rule] = b[rule]
		}
	}
	return a
}

// Aspect is a property of a target that can change during a run.
type Aspect string

// The aspects of a target.
const (
	AspectLeader  Aspect = "Leader"
	AspectVersion Aspect = "Version"
	AspectMembers Aspect = "Members"
)

// Aspects are all aspects.
var Aspects = []Aspect{AspectLeader, AspectVersion, AspectMembers}

// MaxChanges bounds the recorded changes of a target; the first ones are kept.
const MaxChanges = 8

// Change is a change of the target.
type Change struct {
	Aspect Aspect
	// Detail has the old and the new value.
	Detail string
	At     time.Time
}

// checkFired refuses numbers without a rule.
func (s *Snapshot) checkFired() error {
	if s.Fired != nil && s.Fired.Rule == "" {
		return errors.New("wanted the guard's rule that fired, found only its numbers")
	}
	return nil
}
