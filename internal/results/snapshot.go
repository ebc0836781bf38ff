package results

import (
	"cmp"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Phase is the purpose of a request.
type Phase string

// The phases. Draining sends no new requests: requests in flight at the end of the window belong to PhaseMeasured.
const (
	PhasePreload  Phase = "preload"
	PhaseWarmup   Phase = "warmup"
	PhaseMeasured Phase = "measured"
	PhaseControl  Phase = "control"
)

// Stage is the state of a client pod.
type Stage string

// The stages of a client pod, in order.
const (
	StageConnecting Stage = "Connecting"
	// StageWaiting: the target is known, and the pod may not write yet.
	StageWaiting Stage = "Waiting"
	// StageLocking: another run holds the lock of the target. Only client pod 0 has this stage.
	StageLocking Stage = "Locking"
	// StageClaiming: the pod may write: the run holds the lock, or the store has none.
	StageClaiming   Stage = "Claiming"
	StagePreloading Stage = "Preloading"
	StageReady      Stage = "Ready"
	StageWarmingUp  Stage = "WarmingUp"
	StageMeasuring  Stage = "Measuring"
	StageDraining   Stage = "Draining"
	StageCleaning   Stage = "Cleaning"
	// StageDone: the snapshot is final.
	StageDone Stage = "Done"
)

// Stages are all stages, in order.
var Stages = []Stage{
	StageConnecting, StageWaiting, StageLocking, StageClaiming, StagePreloading, StageReady, StageWarmingUp,
	StageMeasuring, StageDraining, StageCleaning, StageDone,
}

// Reached reports whether a pod in this stage is at the other stage or past it.
func (s Stage) Reached(other Stage) bool {
	return slices.Index(Stages, s) >= slices.Index(Stages, other)
}

// FailureReason is why a client pod could not do its part.
type FailureReason string

// The reasons. The condition Finished uses the same reasons.
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
	// FailureTimedOut: the pod's own time ran out before its part was done. The time is plan.TimeoutSeconds, or the
	// maximum wait for its admission.
	FailureTimedOut  FailureReason = "TimedOut"
	FailurePodFailed FailureReason = "PodFailed"
	// FailureTargetLost: the target stopped answering in the measured window and did not come back.
	FailureTargetLost FailureReason = "TargetLost"
	// FailureTargetBusy: another run held the lock of the target for as long as this run waited.
	FailureTargetBusy FailureReason = "TargetBusy"
	// FailureTargetTaken: another run took the lock of the target while this run loaded it.
	FailureTargetTaken FailureReason = "TargetTaken"
	// FailureOwnershipLost: the pod may not write any more, because its key or the run's marker is gone or cannot be
	// renewed.
	FailureOwnershipLost FailureReason = "OwnershipLost"
	// FailurePodStillWrites is a reason of the cleanup alone: a pod whose keys it should delete shows that it lives.
	FailurePodStillWrites FailureReason = "PodStillWrites"
)

// Failure is why a client pod could not do its part.
type Failure struct {
	Reason  FailureReason
	Message string
}

// Cleaning is the state of the keys that a pod has written.
type Cleaning string

// The states of a pod's keys.
const (
	// CleaningNothingWritten: the pod has written nothing to the target.
	CleaningNothingWritten Cleaning = "NothingWritten"
	// CleaningKeysLeft: the pod has written, and its keys are not yet deleted.
	CleaningKeysLeft Cleaning = "KeysLeft"
	// CleaningKeysDeleted: the pod has confirmed that its keys are deleted and its leases are revoked.
	CleaningKeysDeleted Cleaning = "KeysDeleted"
)

// Snapshot holds the counts of one client pod, or the merge of several.
type Snapshot struct {
	// RunUID and Index identify the pod. A merge keeps RunUID, and its Index is -1.
	RunUID    string
	Index     int
	Transport spec.Transport
	// Stage is the pod's stage; Failure is why it ended early, if it did.
	Stage    Stage
	Failure  *Failure
	Cleaning Cleaning
	// Stopped means that the load ended before its bound: because of a stop of the run, a SIGTERM, or a timeout
	// (Failure).
	Stopped bool
	// CoarsePacing means that an open loop waits with timers that are up to a millisecond late, because the system has
	// no exact timer.
	CoarsePacing bool
	// Clock is the pod's wall clock when the snapshot was taken.
	Clock time.Time
	// Fired is the rule of the guard that ended the load, nil if there is none. Unwatched has a reason for each rule
	// that could not be checked all the time; it can begin with NeverWatched.
	Fired     *Fired
	Unwatched map[spec.GuardRule]string

	// Work is the preload in StagePreloading, and the deletion of the run's keys in StageCleaning.
	Work Work

	Window     Window
	Operations map[spec.Operation]*OperationResult
	// Watch counts the events of the pod's watchers, if it has any.
	Watch Watch
	// Started counts the measured requests that were sent; requests in flight have no result yet.
	Started uint64
	// Arrivals is about an open loop, and complete once the pod has measured. Pauses is about a closed loop.
	Arrivals Arrivals
	Pauses   Pauses
	// Disturbances are the disturbances beside the load; only pod 0 disturbs.
	Disturbances map[spec.DisturbanceType]*Disturbance
	// Course is empty until the pod has measured, because reading it under load would disturb the measurement.
	Course
	// Requests counts the sent requests by RPC and phase.
	Requests map[spec.RPC]map[Phase]uint64
	// Resent counts the requests that were sent again because their token had expired, or their connection was closed.
	Resent uint64
	// Sessions are those of the load's connections; zero for stores without sessions.
	Sessions Sessions
	// Bodies are those of the measured requests; zero if the transport does not count them.
	Bodies Bodies
	// Burst is about the tasks of a burst.
	Burst Burst
	// KeyBytes is the length of a key on the wire, including the run's prefix.
	KeyBytes int

	// Target is pod 0's view of the target; nil on the other pods.
	Target *Target
	// Process holds the figures of the pod's process over the window. It is nil until the window has ended, and in a
	// merge, because these figures cannot be added.
	Process *ProcessWindow

	// Omitted names the parts for which a termination message had no room.
	Omitted []string
}

// Sessions are the sessions of connections.
type Sessions struct {
	// Cuts counts the losses of connections. Each session was resumed or replaced after it, or not until the load ended.
	Cuts uint64
	// LongestCut is the longest time without a connection.
	LongestCut time.Duration
	// Timeout is the shortest time-out that a member granted.
	Timeout time.Duration
}

// Add adds other sessions.
func (s *Sessions) Add(other Sessions) {
	s.Cuts += other.Cuts
	s.LongestCut = max(s.LongestCut, other.LongestCut)
	if s.Timeout == 0 || other.Timeout > 0 {
		s.Timeout = min(cmp.Or(s.Timeout, other.Timeout), other.Timeout)
	}
}

// Bodies are the bytes of the bodies of requests that were sent, and of responses that were received.
type Bodies struct{ Sent, Received uint64 }

func (b *Bodies) add(other Bodies) {
	b.Sent += other.Sent
	b.Received += other.Received
}

// Names in Omitted of parts that a summary needs.
const (
	OmittedOperations = "operations"
	OmittedTarget     = "target"
)

// HasMeasured reports whether the measured numbers are final. The pod then only deletes its keys.
func (s *Snapshot) HasMeasured() bool { return s.Stage == StageCleaning || s.Stage == StageDone }

// Work is work with a known total. The zero value is none.
type Work struct {
	// Done of Total keys or leases were written, or keys checked and deleted, since Since.
	Done, Total uint64
	Since       time.Time
}

func (w *Work) add(other Work) {
	w.Done += other.Done
	w.Total += other.Total
	w.Since = earlier(w.Since, other.Since)
}

// Window is a pod's measured window. Unknown times are zero.
type Window struct {
	// StartAt is the common start in the pod's annotation; Skew is how much later the pod started.
	StartAt time.Time
	Skew    time.Duration
	// Start is W0, End is W1. End is zero until the window has ended; for a window bound by requests it is
	// LastResponse.
	Start, End time.Time
	// LastResponse is the time of the last response to a measured request.
	LastResponse time.Time
	// Planned is the planned length, 0 if requests bound the window. Of a burst, it is the time over which tasks are due.
	Planned time.Duration
	// PlannedRequests is the planned number of requests of this pod, 0 if a duration bounds the window.
	PlannedRequests uint64
}

// ErrorMissed is the error code of an event that was not delivered.
const ErrorMissed = "Missed"

// OperationResult holds the measurement of one operation.
type OperationResult struct {
	// Latency and Service of successful requests, in nanoseconds.
	Latency, Service Histogram
	// Net is the latency without the lateness, of successful requests. It is empty if none of them waited for a free
	// client; then it is the same as Service. See NetLatency.
	Net Histogram
	// Lateness of all requests that were sent, independent of their result: from when they were due and a client was
	// free until they were sent. It is the generator's own delay.
	Lateness Histogram
	// Backlog is how long requests of an open loop waited for a free client after they were due. It holds only those
	// that waited.
	Backlog Histogram
	// Failed has the latency of failed requests.
	Failed Histogram
	// Censored has, for requests that were unanswered or unsent when the run ended, the time from their due time until
	// then.
	Censored Histogram
	// Errors counts failed requests by gRPC status code, for example "Unavailable", and missed events by ErrorMissed.
	Errors   map[string]uint64
	Examples Examples
	// CompletedInWindow counts successes whose response came in [W0, W1). It includes requests that were due in the
	// warm-up; no other number does.
	CompletedInWindow uint64
	// Lost counts successes that changed nothing: compare-and-swaps and writes of objects whose key another client had
	// changed or deleted.
	Lost uint64
	// Attempts counts the commit attempts of the successes if one request can try more than once; otherwise it is 0.
	Attempts uint64
}

// NetLatency is the latency without the lateness.
func (r *OperationResult) NetLatency() *Histogram {
	if r.Net.Count() == 0 {
		return &r.Service
	}
	return &r.Net
}

// Arrivals counts the arrivals of an open loop that were not sent as scheduled.
type Arrivals struct {
	// Lacking still waited for a free client when the window ended. Some of them were sent soon after.
	Lacking uint64
	// Skipped were never sent although a client was free.
	Skipped uint64
	// Bunched were sent late, when the next arrival was due too, so that the target received a burst.
	Bunched uint64
	// Busy is how long clients were busy with requests of the window, added up: from sending a request until the client
	// was free again. It includes the time for which a client holds a lock.
	Busy time.Duration
}

func (a *Arrivals) add(other Arrivals) {
	a.Lacking += other.Lacking
	a.Skipped += other.Skipped
	a.Bunched += other.Bunched
	a.Busy = addDurations(a.Busy, other.Busy)
}

// Pauses are the waits of closed-loop clients after requests that failed at once. During a pause a client sends nothing.
type Pauses struct {
	Count uint64
	// Total is the sum over all clients.
	Total time.Duration
}

func (p *Pauses) add(other Pauses) {
	p.Count += other.Count
	p.Total = addDurations(p.Total, other.Total)
}

// Target is a client pod's view of the target.
type Target struct {
	// ClusterID is in hexadecimal.
	ClusterID string
	// WriteEstimateBytes is the estimated growth of the database by the run; 0 if the plan allows no estimate.
	WriteEstimateBytes int64
	Members            []Member
	// Unlisted is why the members could not be listed; empty if they were. If it is set, a member that no address
	// reaches may be missing here.
	Unlisted string
	// Disk is what a folder lies on, if the target is one. Each pod reports its own.
	Disk *Disk
	// Notes are facts about the target that limit what the result shows, sorted: sentences without a full stop.
	Notes []string
	// Skipped are the addresses to which this pod sent no load, because they did not answer when it started, with the reason
	// for each of them. AnsweredBy has, by address, the IDs of the members that answered requests of the load there, sorted.
	// Pods other than client pod 0 report nothing else of the target.
	Skipped    map[string]string
	AnsweredBy map[string][]string
	// Unlocked: the store has no lock, or does not let this user take it. Another run may have loaded the target at the same
	// time.
	Unlocked bool
	// Changes of the target from that first look to the end of the load, in order of time; at most MaxChanges.
	Changes []Change
	// Unobserved has a reason for each aspect that was not observed well enough to detect a change.
	Unobserved map[Aspect]string
	// Diagnosis is what is wrong with the target; nil if the run did not look for it.
	Diagnosis *Diagnosis
}

// Disk is what the folder of a client pod lies on.
type Disk struct {
	// Device, FileSystem and Options are those of the mount.
	Device, FileSystem, Options string
}

// Member is one member of the target.
type Member struct {
	// ID is in hexadecimal.
	ID, Name, Endpoint, Version string
	Leader                      bool
	DatabaseBytes               int64
	// QuotaBytes is the maximum size of the database; 0 if the member did not report it.
	QuotaBytes int64
	// ResidentMemoryBytes is the mean over the samples of the window; 0 if there was no sample.
	ResidentMemoryBytes int64
	// Window holds the member's own metrics over the measured window; nil until the window has ended. Copies of a
	// Member share it, so it must not be changed.
	Window *MemberWindow
}

// Label is the member's name, or its ID if it has no name: a member that has not started yet has none.
func (m Member) Label() string { return cmp.Or(m.Name, m.ID) }

// Examples have, for an error code, the message of one failure. It is short and printable, because it can come from any
// server or proxy.
type Examples map[string]string

// The most bytes of an example, and the most codes that have one.
const (
	maxExample  = 200
	MaxExamples = 32
)

// Add keeps the message as the example of an error code, unless there is one.
func (e *Examples) Add(code, message string) {
	if message == "" || (*e)[code] != "" || len(*e) == MaxExamples {
		return
	}
	if *e == nil {
		*e = Examples{}
	}
	(*e)[code] = text.Shorten(message, maxExample)
}
