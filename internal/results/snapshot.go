package results

import (
	"cmp"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Phase is what a request was sent for.
type Phase string

// The phases. Drain sends nothing new: what is in flight when the window ends
// belongs to PhaseMeasured.
const (
	PhasePreload  Phase = "preload"
	PhaseWarmup   Phase = "warmup"
	PhaseMeasured Phase = "measured"
	PhaseControl  Phase = "control"
)

// Stage is where a client pod is in its life.
type Stage string

// The stages of a client pod, in order.
const (
	StageConnecting Stage = "Connecting"
	// StageWaiting: the target is known, and nothing may be written yet.
	StageWaiting    Stage = "Waiting"
	StagePreloading Stage = "Preloading"
	StageReady      Stage = "Ready"
	StageWarmingUp  Stage = "WarmingUp"
	StageMeasuring  Stage = "Measuring"
	StageDraining   Stage = "Draining"
	StageCleaning   Stage = "Cleaning"
	// StageDone: the snapshot is final.
	StageDone Stage = "Done"
)

// Stages are all of them, in order.
var Stages = []Stage{
	StageConnecting, StageWaiting, StagePreloading, StageReady, StageWarmingUp,
	StageMeasuring, StageDraining, StageCleaning, StageDone,
}

// FailureReason says why a client pod could not do its part.
type FailureReason string

// The reasons. The operator uses the same words for the condition Finished.
const (
	FailureTargetUnreachable    FailureReason = "TargetUnreachable"
	FailureTargetUnhealthy      FailureReason = "TargetUnhealthy"
	FailureNoQuorum             FailureReason = "NoQuorum"
	FailureAlarmRaised          FailureReason = "AlarmRaised"
	FailureQuotaInsufficient    FailureReason = "QuotaInsufficient"
	FailureControlPlaneTarget   FailureReason = "ControlPlaneTarget"
	FailureUnsupported          FailureReason = "Unsupported"
	FailureTLSFailed            FailureReason = "TLSFailed"
	FailureAuthenticationFailed FailureReason = "AuthenticationFailed"
	FailureSecretInvalid        FailureReason = "SecretInvalid"
	FailurePrefixNotEmpty       FailureReason = "PrefixNotEmpty"
	FailureInvalidPlan          FailureReason = "InvalidPlan"
	// FailureTimedOut: the pod's own time ran out before its part was done. That
	// is plan.TimeoutSeconds, or what it waits for its turn at most.
	FailureTimedOut  FailureReason = "TimedOut"
	FailurePodFailed FailureReason = "PodFailed"
)

// Failure is why a client pod could not do its part.
type Failure struct {
	Reason  FailureReason
	Message string
}

// Cleaning is what a pod knows of its keys in the target.
type Cleaning string

// What a pod knows of its keys.
const (
	// CleaningNothingWritten: the pod has not written to the target.
	CleaningNothingWritten Cleaning = "NothingWritten"
	// CleaningKeysLeft: the pod has written, and its keys are not yet deleted.
	CleaningKeysLeft Cleaning = "KeysLeft"
	// CleaningKeysDeleted: the pod has seen its keys deleted, and its leases
	// revoked.
	CleaningKeysDeleted Cleaning = "KeysDeleted"
)

// Snapshot is what one client pod, or the merge of several, has counted.
type Snapshot struct {
	// RunUID and Index say whose snapshot this is. A merge keeps RunUID, and
	// Index is -1.
	RunUID    string
	Index     int
	Transport spec.Transport
	// Stage and Failure: where the pod is, and why it ended early, if it did.
	Stage    Stage
	Failure  *Failure
	Cleaning Cleaning
	// Stopped says that the load ended before its bound because the run was
	// told to stop, the process got SIGTERM or its time ran out (Failure).
	Stopped bool
	// CoarsePacing says that arrivals of an open loop are waited for by timers that
	// are up to a millisecond late, because the system has none that is exact.
	CoarsePacing bool
	// Clock is what the pod's wall clock showed when the snapshot was taken.
	Clock time.Time
	// Fired is the rule of the guard that ended the load, nil if none did.
	// Unwatched says, of each rule that could not be watched all the time, why.
	Fired     *Fired
	Unwatched map[spec.GuardRule]string

	Window     Window
	Operations map[spec.Operation]*OperationResult
	// Watch says what became of the pod's watchers, if it has any.
	Watch Watch
	// Started counts the measured requests that were sent; those in flight have
	// no result yet.
	Started uint64
	// Disturbances are what was done beside the load; pod 0 alone does any.
	Disturbances map[spec.DisturbanceType]*Disturbance
	// Timeline says what came when. It is empty until the pod has measured, for
	// a scrape under load would cost what it describes.
	Timeline Timeline
	// Requests counts the requests sent, by RPC and phase.
	Requests map[spec.RPC]map[Phase]uint64
	// KeyBytes is the length of a key on the wire, with the run's prefix.
	KeyBytes int

	// Target is what pod 0 learned of the target; nil on the other pods.
	Target *Target
	// Process is what the pod's process had of its machine over the window; nil
	// until that has ended, and in a merge: such numbers cannot be added up.
	Process *ProcessWindow

	// Omitted names what a termination message had no room for.
	Omitted []string
}

// Names in Omitted of what a summary cannot do without.
const (
	OmittedOperations = "operations"
	OmittedTarget     = "target"
)

// HasMeasured says that the measured numbers will not change any more: what is
// left to the pod is the deletion of its keys.
func (s *Snapshot) HasMeasured() bool { return s.Stage == StageCleaning || s.Stage == StageDone }

// Window is a pod's measured window. Times are zero until they are known.
type Window struct {
	// StartAt is the common start that the pod was given; Skew is how long
	// after it the pod started.
	StartAt time.Time
	Skew    time.Duration
	// Start is W0, End is W1; End is zero until the window has ended. Where
	// requests bound the window, End is LastResponse.
	Start, End time.Time
	// LastResponse is when the last measured request was answered.
	LastResponse time.Time
	// Planned is the length that the plan wants, 0 where requests bound it.
	Planned time.Duration
	// PlannedRequests is how many the plan wants of this pod, 0 where a
	// duration bounds the window.
	PlannedRequests uint64
}

// ErrorMissed is the code under which an event counts as failed that was not
// delivered.
const ErrorMissed = "Missed"

// OperationResult is what was measured of one operation.
type OperationResult struct {
	// Latency and Service of successful requests, in nanoseconds.
	Latency, Service Histogram
	// Lateness of all requests that were sent, however they ended, of open-loop
	// loads only.
	Lateness Histogram
	// Failed has the latency of failed requests.
	Failed Histogram
	// Censored has, of requests that were unanswered or still owed when the
	// run ended, the time from when they were due until then.
	Censored Histogram
	// Errors counts failed requests by gRPC status code, for example "Unavailable",
	// and events under ErrorMissed.
	Errors map[string]uint64
	// CompletedInWindow counts successes whose response came in [W0, W1). Those
	// of requests that were due in the warm-up are among them, and in nothing else.
	CompletedInWindow uint64
	// Lost counts the successes that changed nothing: compare-and-swaps and
	// writes of objects that found the key changed or deleted by another client.
	Lost uint64
	// Attempts counts what the successes took where one request can try more
	// than once to commit; else it is 0.
	Attempts uint64
}

// Target is what a client pod learned of the target before the load.
type Target struct {
	// ClusterID is in hexadecimal.
	ClusterID string
	// WriteEstimateBytes is what the run was expected to add to the database;
	// 0 means that its plan does not tell.
	WriteEstimateBytes int64
	Members            []Member
	// Unlisted is why the members could not be listed: one that no address
	// reaches may then be missing here. Empty if they were.
	Unlisted string
	// Changes of the target between that look and the end of the load, in the
	// order of time; the first MaxChanges of them.
	Changes []Change
	// Unseen says, of what was not seen well enough to tell whether it changed,
	// why.
	Unseen map[Aspect]string
}

// Member is one member of the target.
type Member struct {
	// ID is in hexadecimal.
	ID, Name, Endpoint, Version string
	Leader                      bool
	DatabaseBytes               int64
	// QuotaBytes is the size that the database may reach; 0 means that the
	// member did not tell, as before etcd 3.6.
	QuotaBytes int64
	// ResidentMemoryBytes is the mean over the samples of the window; 0 means
	// that no sample could be had.
	ResidentMemoryBytes int64
	// Window is what the member's own metrics say of the measured window; nil
	// until the window has ended. Who copies a Member shares it and must not
	// change it.
	Window *MemberWindow
}

// Label is the member's name, or its ID where it has none: one that has not yet
// started has no name.
func (m Member) Label() string { return cmp.Or(m.Name, m.ID) }
