package plan

import (
	"errors"
	"time"
)

// StopRules end a load once one of them is broken. The zero value has none.
type StopRules struct {
	// Alarm: a member raises NOSPACE or CORRUPT.
	Alarm bool `json:"alarm,omitempty"`
	// LeaderChange: another member leads, or an election was held.
	LeaderChange bool `json:"leaderChange,omitempty"`
	// MaxDatabaseBytes of a member; 0 is any size.
	MaxDatabaseBytes int64 `json:"maxDatabaseBytes,omitempty"`
	// ErrorRatio, of a pod's own requests, and WALFsync of each member.
	ErrorRatio ErrorRatioRule `json:"errorRatio,omitzero"`
	WALFsync   WALFsyncRule   `json:"walFsync,omitzero"`
}

// ErrorRatioRule limits the share of requests that fail. Without ForSeconds
// there is no such rule.
type ErrorRatioRule struct {
	MaxPerMillion int `json:"maxPerMillion,omitempty"`
	ForSeconds    int `json:"forSeconds,omitempty"`
}

// WALFsyncRule limits the mean time of a flush of the log. Without ForSeconds
// there is no such rule.
type WALFsyncRule struct {
	MaxMeanMicroseconds int64 `json:"maxMeanMicroseconds,omitempty"`
	ForSeconds          int   `json:"forSeconds,omitempty"`
}

// OfTarget says whether a rule is about the target, and not about requests alone.
func (r StopRules) OfTarget() bool {
	r.ErrorRatio = ErrorRatioRule{}
	return r != StopRules{}
}

// WatchesForOthers says whether client pod 0 watches the target while other pods
// load it and it does no more: bound by requests, pods do not end together.
func (p Plan) WatchesForOthers() bool {
	return p.Pods > 1 && p.Load.DurationSeconds == 0 && p.Guard.StopOn.OfTarget()
}

// For is the time over which the rule counts, 0 if there is no rule.
func (r ErrorRatioRule) For() time.Duration { return time.Duration(r.ForSeconds) * time.Second }

// For is the time over which the rule takes the mean, 0 if there is no rule.
func (r WALFsyncRule) For() time.Duration { return time.Duration(r.ForSeconds) * time.Second }

// MaxMean is the longest mean that the rule lets pass.
func (r WALFsyncRule) MaxMean() time.Duration {
	return time.Duration(r.MaxMeanMicroseconds) * time.Microsecond
}

func (g Guard) validate() error {
	rules := g.StopOn
	return errors.Join(
		check(g.MaxFreeQuotaPercent >= 0, "guard.maxFreeQuotaPercent", "at least 0", g.MaxFreeQuotaPercent),
		check(rules.MaxDatabaseBytes >= 0, "guard.stopOn.maxDatabaseBytes", "at least 0", rules.MaxDatabaseBytes),
		check(rules.ErrorRatio.MaxPerMillion >= 0 && rules.ErrorRatio.ForSeconds >= 0, "guard.stopOn.errorRatio", "numbers of at least 0", rules.ErrorRatio),
		check(rules.WALFsync.MaxMeanMicroseconds >= 0 && rules.WALFsync.ForSeconds >= 0, "guard.stopOn.walFsync", "numbers of at least 0", rules.WALFsync),
	)
}
