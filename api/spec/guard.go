package spec

import (
	"slices"
	"time"
)

// Guard protects the target of a run. Some rules refuse the run before its
// first write; the rules of stopOn end it later.
type Guard struct {
	// maxFreeQuotaPercent is how much the run may be expected to write, in percent
	// of the space that the quota leaves free in a member's database. A run that
	// would write more is refused as QuotaInsufficient. The estimate needs the
	// number of writes. A closed loop without load.requests has none: set
	// load.requests or load.rate. Before etcd 3.6 only a member's /metrics have the
	// quota. Default 50.
	//
	// +optional
	// +kubebuilder:default=50
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxFreeQuotaPercent int32 `json:"maxFreeQuotaPercent,omitempty"`

	// acceptWrites lets the run write any amount, for example because the target
	// is compacted during the run. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	AcceptWrites bool `json:"acceptWrites"`

	// acknowledgeControlPlane lets the run load an etcd that holds the objects of
	// a Kubernetes API server. Such an etcd has keys under /registry/, or the
	// operator's configuration lists its address as one of a control plane.
	// It also lets a run measure the disk of a running etcd. Without this field
	// the run is refused as ControlPlaneTarget. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	AcknowledgeControlPlane bool `json:"acknowledgeControlPlane"`

	// allowStoreWide permits spec.disturbances that affect the whole store and all
	// of its users: compaction and defragmentation. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	AllowStoreWide bool `json:"allowStoreWide"`

	// stopOn has the rules that end the run while it goes on. Default: the run
	// ends when a member raises an alarm, or when its database comes near its
	// quota.
	//
	// +optional
	StopOn *StopRules `json:"stopOn,omitempty"`
}

// defaultMaxFreeQuotaPercent is the default of Guard.MaxFreeQuotaPercent.
const defaultMaxFreeQuotaPercent = 50

// DefaultGuard is the guard of a run whose spec has none.
func DefaultGuard() Guard { return Guard{MaxFreeQuotaPercent: defaultMaxFreeQuotaPercent} }

// QuotaPercent is how much of the free quota the run may be expected to write. 0 means any amount.
func (g Guard) QuotaPercent() int64 {
	switch {
	case g.AcceptWrites:
		return 0
	case g.MaxFreeQuotaPercent == 0:
		return defaultMaxFreeQuotaPercent
	}
	return int64(g.MaxFreeQuotaPercent)
}

// Rules are the rules that end the run while it goes on.
func (g Guard) Rules() StopRules {
	rules := StopRules{Alarm: true, Quota: true}
	if g.StopOn != nil {
		rules = *g.StopOn
	}
	rules.Quota = rules.Quota && !g.AcceptWrites
	return rules
}

// StopRules end a run that goes on. As with spec.stop, the run waits for requests
// in flight, deletes its keys and keeps its measurements. But it counts as failed:
// it ends as GuardStopped, and the exit status of kubectl etcdbench run is 2. The
// rules apply from before the first write until the end of the measured
// window.
type StopRules struct {
	// alarm ends the run when a member raises NOSPACE or CORRUPT. Default true.
	//
	// +optional
	// +kubebuilder:default=true
	Alarm bool `json:"alarm"`

	// quota ends the run when the database of a member comes near its quota, before
	// etcd refuses the writes of all its users. The limit is 80 % of the quota, or
	// the size at the start plus half of what was free then, whichever is more.
	// The rule has no effect with acceptWrites, or if a member does not report its
	// quota. Default true.
	//
	// +optional
	// +kubebuilder:default=true
	Quota bool `json:"quota"`

	// leaderChange ends the run when another member becomes leader, or an election
	// was held. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	LeaderChange bool `json:"leaderChange"`

	// databaseSize ends the run when the database of a member is too large.
	// Absent: no limit.
	//
	// +optional
	DatabaseSize *DatabaseSizeRule `json:"databaseSize,omitempty"`

	// errorRatio ends the run when too many requests of a client pod fail. Absent:
	// no limit.
	//
	// +optional
	ErrorRatio *ErrorRatioRule `json:"errorRatio,omitempty"`

	// walFsync ends the run when a member takes too long to flush its write-ahead
	// log. It needs the members' own metrics. A member that does not serve them is
	// not watched, and a warning says so. Absent: no limit.
	//
	// +optional
	WALFsync *WALFsyncRule `json:"walFsync,omitempty"`
}

// On returns the rules that are set.
func (r StopRules) On() (on []GuardRule) {
	for rule, set := range map[GuardRule]bool{
		GuardAlarm: r.Alarm, GuardQuota: r.Quota, GuardLeaderChange: r.LeaderChange,
		GuardDatabaseSize: r.DatabaseSize != nil, GuardErrorRatio: r.ErrorRatio != nil, GuardWALFsync: r.WALFsync != nil,
	} {
		if set {
			on = append(on, rule)
		}
	}
	slices.Sort(on)
	return on
}

// OfTarget reports whether a rule is about the target, and not about requests alone.
func (r StopRules) OfTarget() bool {
	return r.Alarm || r.Quota || r.LeaderChange || r.DatabaseSize != nil || r.WALFsync != nil
}

// DatabaseSizeRule limits the database of each member.
type DatabaseSizeRule struct {
	// maxBytes is the largest size, in bytes, of a member's database. A larger one
	// ends the run. Free pages count, as they do for the quota.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1125899906842624
	MaxBytes int64 `json:"maxBytes"`
}

// ErrorRatioRule limits the share of requests that fail.
type ErrorRatioRule struct {
	// maxPerMillion is the highest accepted share of failed requests, in failures
	// per million. It applies to the requests of one client pod that ended within
	// forSeconds, warm-up included.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MaxPerMillion int32 `json:"maxPerMillion"`

	// forSeconds is the period, in seconds, over which requests are counted.
	// Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	ForSeconds int32 `json:"forSeconds,omitempty"`
}

// For is the period over which the rule counts.
func (r ErrorRatioRule) For() time.Duration { return time.Duration(r.ForSeconds) * time.Second }

// WALFsyncRule limits the mean time that a member takes to flush its log.
type WALFsyncRule struct {
	// maxMeanMicroseconds is the longest accepted mean time of the flushes within
	// forSeconds, in microseconds. A member with a longer one ends the run.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60000000
	MaxMeanMicroseconds int64 `json:"maxMeanMicroseconds"`

	// forSeconds is the period, in seconds, over which the mean is taken. Default
	// 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	ForSeconds int32 `json:"forSeconds,omitempty"`
}

// For is the period over which the rule takes the mean.
func (r WALFsyncRule) For() time.Duration { return time.Duration(r.ForSeconds) * time.Second }

// MaxMean is the longest mean that the rule allows.
func (r WALFsyncRule) MaxMean() time.Duration {
	return time.Duration(r.MaxMeanMicroseconds) * time.Microsecond
}

// GuardRule names a rule of StopRules.
//
// +kubebuilder:validation:Enum=Alarm;Quota;LeaderChange;DatabaseSize;ErrorRatio;WALFsync
type GuardRule string

// The rules.
const (
	GuardAlarm        GuardRule = "Alarm"
	GuardLeaderChange GuardRule = "LeaderChange"
	GuardQuota        GuardRule = "Quota"
	GuardDatabaseSize GuardRule = "DatabaseSize"
	GuardErrorRatio   GuardRule = "ErrorRatio"
	GuardWALFsync     GuardRule = "WALFsync"
)

// GuardRules returns all rules.
func GuardRules() []GuardRule {
	return []GuardRule{GuardAlarm, GuardQuota, GuardLeaderChange, GuardDatabaseSize, GuardErrorRatio, GuardWALFsync}
}
