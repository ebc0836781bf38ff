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
	// DisturbanceLeaseExpiry grants leases that expire together.
	DisturbanceLeaseExpiry DisturbanceKind = "LeaseExpiry"
)

var disturbanceKinds = []DisturbanceKind{DisturbanceCompact, DisturbanceDefragment, DisturbanceLeaseExpiry}

// Disturbance happens in intervals in the measured window. Pod 0 makes it.
type Disturbance struct {
	Kind DisturbanceKind `json:"kind"`
	// EverySeconds is from one to the next, and from the window's start to the
	// first.
	EverySeconds int `json:"everySeconds"`
	// KeepRevisions is how many of the newest revisions DisturbanceCompact leaves.
	KeepRevisions int64 `json:"keepRevisions,omitempty"`
	// Storm is set for DisturbanceLeaseExpiry alone.
	Storm *Storm `json:"storm,omitempty"`
}

// Storm is a number of leases with keys that expire together.
type Storm struct {
	Leases       int64 `json:"leases"`
	KeysPerLease int64 `json:"keysPerLease"`
	TTLSeconds   int64 `json:"ttlSeconds"`
}

// maxStormKeys bounds the keys of a storm.
const maxStormKeys = 1_000_000

func (s *Storm) validate() error {
	if s == nil {
		return nil
	}
	return errors.Join(
		check(s.Leases >= 1 && s.KeysPerLease >= 1 && s.Leases <= maxStormKeys/s.KeysPerLease, "disturbances.storm",
			fmt.Sprintf("1 to %d keys on at least one lease", maxStormKeys), *s),
		check(s.TTLSeconds >= 1 && s.TTLSeconds <= maxTTLSeconds, "disturbances.storm.ttlSeconds", fmt.Sprintf("1 to %d", maxTTLSeconds), s.TTLSeconds),
	)
}

// Storm returns the plan's storm, nil if it has none.
func (p Plan) Storm() *Storm {
	for _, d := range p.Disturbances {
		if d.Storm != nil {
			return d.Storm
		}
	}
	return nil
}

// StormKeys is how many keys a storm has; 0 if there is none.
func (p Plan) StormKeys() int64 {
	if s := p.Storm(); s != nil {
		return s.Leases * s.KeysPerLease
	}
	return 0
}

// storms is how many storms there will be in the window; false if only the
// target decides that.
func (p Plan) storms() (n int64, ok bool) {
	for _, d := range p.Disturbances {
		if d.Storm != nil {
			return int64(p.Load.DurationSeconds / d.EverySeconds), p.Load.DurationSeconds > 0
		}
	}
	return 0, true
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
			check(d.EverySeconds >= 1 && d.EverySeconds <= maxSeconds, "disturbances.everySeconds", fmt.Sprintf("1 to %d", maxSeconds), d.EverySeconds),
			check(d.KeepRevisions >= 0 && (d.KeepRevisions == 0 || d.Kind == DisturbanceCompact), "disturbances.keepRevisions", "at least 0, and 0 beside Compact", d.KeepRevisions),
			check((d.Storm != nil) == (d.Kind == DisturbanceLeaseExpiry), "disturbances.storm", "to be set for LeaseExpiry, and for nothing else", d.Storm),
			d.Storm.validate(),
			check(d.Kind != DisturbanceCompact || p.Workload.WatchGet == nil, "disturbances.kind", "no Compact beside WatchGet, whose watchers read the history", d.Kind),
			check(!d.storeWide() || p.Guard.AllowStoreWide, "guard.allowStoreWide", fmt.Sprintf("true for %s, which concerns the whole store", d.Kind), false),
		)
		seen = append(seen, d.Kind)
	}
	return errors.Join(errs...)
}
