package results

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Fired is a rule that has ended a client pod's load. Got and Limit are, of
// spec.GuardErrorRatio, in millionths; of spec.GuardDatabaseSize, in bytes; of
// spec.GuardWALFsync, in seconds.
type Fired struct {
	Rule spec.GuardRule
	// Subject is the name of the member that broke the rule; empty for the
	// pod's own requests.
	Subject string
	// Detail says what happened, where that is no number.
	Detail string
	// Got and Limit are 0 where Detail is set.
	Got, Limit float64
	At         time.Time
}

// earlierFired is the rule that fired first.
func earlierFired(a, b *Fired) *Fired {
	if a == nil || b != nil && b.At.Before(a.At) {
		return b
	}
	return a
}

// mergeUnwatched keeps one reason of each rule, the same in any order.
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

// Aspect is what of a target can change under a run.
type Aspect string

// The aspects of a target.
const (
	AspectLeader  Aspect = "Leader"
	AspectVersion Aspect = "Version"
	AspectMembers Aspect = "Members"
)

// Aspects are all of them.
var Aspects = []Aspect{AspectLeader, AspectVersion, AspectMembers}

// MaxChanges bounds the changes of a target that are kept, the first ones.
const MaxChanges = 8

// Change says that the target was no longer what it had been.
type Change struct {
	Aspect Aspect
	// Detail says from what to what.
	Detail string
	At     time.Time
}

// checkFired: a limit alone says nothing of what fired.
func (s *Snapshot) checkFired() error {
	if s.Fired != nil && s.Fired.Rule == "" {
		return errors.New("wanted the rule of the guard that fired, found its numbers alone")
	}
	return nil
}
