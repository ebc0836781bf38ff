package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// DisturbanceKind is what happens beside the load.
type DisturbanceKind string

// The kinds of disturbances.
const (
	DisturbanceCompact    DisturbanceKind = "Compact"
	DisturbanceDefragment DisturbanceKind = "Defragment"
)

var disturbanceKinds = []DisturbanceKind{DisturbanceCompact, DisturbanceDefragment}

// Disturbance happens in intervals in the measured window. Pod 0 makes it.
type Disturbance struct {
	Kind DisturbanceKind `json:"kind"`
	// EverySeconds is from one to the next, and from the window's start to the
	// first.
	EverySeconds int `json:"everySeconds"`
	// KeepRevisions is how many of the newest revisions DisturbanceCompact leaves.
	KeepRevisions int64 `json:"keepRevisions,omitempty"`
}

// Every is the time from one to the next.
func (d Disturbance) Every() time.Duration { return time.Duration(d.EverySeconds) * time.Second }

// storeWide says whether it concerns more than the keys of the run.
func (d Disturbance) storeWide() bool {
	return d.Kind == DisturbanceCompact || d.Kind == DisturbanceDefragment
}

func (p Plan) validateDisturbances() error {
	var errs []error
	var seen []DisturbanceKind
	for _, d := range p.Disturbances {
		errs = append(errs,
			check(slices.Contains(disturbanceKinds, d.Kind), "disturbances.kind", fmt.Sprintf("one of %v", disturbanceKinds), d.Kind),
			check(!slices.Contains(seen, d.Kind), "disturbances.kind", "each kind once", d.Kind),
			check(d.EverySeconds >= 1, "disturbances.everySeconds", "at least 1", d.EverySeconds),
			check(d.KeepRevisions >= 0 && (d.KeepRevisions == 0 || d.Kind == DisturbanceCompact), "disturbances.keepRevisions", "at least 0, and 0 beside Compact", d.KeepRevisions),
			check(!d.storeWide() || p.Guard.AllowStoreWide, "guard.allowStoreWide", fmt.Sprintf("true for %s, which concerns the whole store", d.Kind), false),
		)
		seen = append(seen, d.Kind)
	}
	return errors.Join(errs...)
}
