package v1alpha1

// Condition types of an EtcdBenchmark.
const (
	// ConditionFinished is True when the run has ended, for whatever reason,
	// and False, with the stage as reason, before.
	ConditionFinished = "Finished"
	// ConditionPassed is True if all objectives were met, False if one was
	// missed, Unknown if that could not be judged, and absent without objectives.
	ConditionPassed = "Passed"
	// ConditionCleaned is True if no key of the run is left in the target,
	// False if keys are left, Unknown if that could not be found out.
	ConditionCleaned = "Cleaned"
	// ConditionReconciling follows kstatus: present, and True, while the run
	// goes on.
	ConditionReconciling = "Reconciling"
	// ConditionStalled follows kstatus: present, and True, if the run could
	// not do what it was asked to. A missed objective does not stall.
	ConditionStalled = "Stalled"
)

// Reasons of Finished=False: the stages of a run, in order. StageQueued may come
// between the first two.
const (
	// StagePending: the target is resolved.
	StagePending = "Pending"
	// StagePreparing: the plan is written, and the client pods are scheduled,
	// connect and preload.
	StagePreparing = "Preparing"
	// StageArmed: all client pods are ready and are told when to start.
	StageArmed = "Armed"
	// StageRunning: warm-up, measured window and drain.
	StageRunning = "Running"
	// StageCollecting: the final results are gathered and the keys deleted.
	StageCollecting = "Collecting"
)

// Reasons of Finished=True.
const (
	// ReasonCompleted: the run did all that was asked.
	ReasonCompleted = "Completed"
	// ReasonStopped: spec.stop ended the run; the result is what was measured until then.
	ReasonStopped = "Stopped"
	// ReasonTimedOut: spec.timeoutSeconds ended the run, or its client pods waited
	// 24 hours for another run on the same etcd cluster.
	ReasonTimedOut = "TimedOut"
	// ReasonTargetNotFound: the Service, its port or the selected pods do not exist.
	ReasonTargetNotFound = "TargetNotFound"
	// ReasonTargetUnreachable: an address does not resolve, refuses or does not answer.
	ReasonTargetUnreachable = "TargetUnreachable"
	// ReasonTargetUnhealthy: the target answers and cannot be used.
	ReasonTargetUnhealthy = "TargetUnhealthy"
	// ReasonTLSFailed: the TLS handshake failed, in either direction.
	ReasonTLSFailed = "TLSFailed"
	// ReasonAuthenticationFailed: the target refused the user or its permissions.
	ReasonAuthenticationFailed = "AuthenticationFailed"
	// ReasonSecretInvalid: a Secret or a key in it is missing or cannot be used.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonPrefixNotEmpty: keys that are not of this run lie under its prefix, or it
	// lies within a prefix that another run owns.
	ReasonPrefixNotEmpty = "PrefixNotEmpty"
	// ReasonImageUnavailable: the client image cannot be pulled.
	ReasonImageUnavailable = "ImageUnavailable"
	// ReasonPodsForbidden: a quota, limit range or admission policy refused the client pods.
	ReasonPodsForbidden = "PodsForbidden"
	// ReasonUnschedulable: no node takes the client pods.
	ReasonUnschedulable = "Unschedulable"
	// ReasonPodsNotReady: the client pods did not become ready in time.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonPodFailed: a client pod was lost or ended with an error of its own.
	ReasonPodFailed = "PodFailed"
	// ReasonGuardStopped: a rule of spec.guard.stopOn ended the run; status.guard
	// says which, and the result is what was measured until then.
	ReasonGuardStopped = "GuardStopped"
	// ReasonPartlyCompleted: client pods were lost, spec.onPodLost let the others go
	// on, and these did all that was asked of them.
	ReasonPartlyCompleted = "PartlyCompleted"
	// ReasonJobDeleted: somebody deleted the load Job.
	ReasonJobDeleted = "JobDeleted"
	// ReasonInvalidPlan: the operator and the client image do not understand each
	// other, or somebody has replaced the plan.
	ReasonInvalidPlan = "InvalidPlan"
)

// Reasons of Finished=True, of runs that were refused to keep the target safe.
const (
	// ReasonNoQuorum: the members have no leader.
	ReasonNoQuorum = "NoQuorum"
	// ReasonAlarmRaised: a member has raised NOSPACE or CORRUPT.
	ReasonAlarmRaised = "AlarmRaised"
	// ReasonQuotaInsufficient: the run is expected to write more than
	// spec.guard lets it.
	ReasonQuotaInsufficient = "QuotaInsufficient"
	// ReasonEndpointNotAllowed: the operator's configuration does not let
	// anybody load an address of the target.
	ReasonEndpointNotAllowed = "EndpointNotAllowed"
	// ReasonLimitExceeded: the run asks for more pods, a higher rate or one more
	// run than the operator's configuration lets it.
	ReasonLimitExceeded = "LimitExceeded"
	// ReasonControlPlaneTarget: the target holds a Kubernetes API server's objects,
	// or the operator's configuration names its address as one of a control plane.
	ReasonControlPlaneTarget = "ControlPlaneTarget"
	// ReasonUnsupported: a member does not serve a call that the workload is made of.
	ReasonUnsupported = "Unsupported"
)

// Reasons of Passed.
const (
	// ReasonObjectivesMet: every objective was met.
	ReasonObjectivesMet = "ObjectivesMet"
	// ReasonObjectivesMissed: at least one objective was missed.
	ReasonObjectivesMissed = "ObjectivesMissed"
	// ReasonNotJudged: none was missed, and at least one could not be judged, or the
	// run ended before its work was done.
	ReasonNotJudged = "NotJudged"
	// ReasonClientBound: every objective was met, and the client was itself a limit.
	ReasonClientBound = "ClientBound"
)

// Reasons of Passed=Unknown that are about the run as a whole: its numbers are
// not of what was asked for.
const (
	// ReasonTargetChanged: the leader, a version or the members of the target
	// changed under the run.
	ReasonTargetChanged = "TargetChanged"
	// ReasonTargetUnseen: whether the target changed under the run is not known.
	ReasonTargetUnseen = "TargetUnseen"
	// ReasonStartsApart: the client pods did not start together.
	ReasonStartsApart = "StartsApart"
	// ReasonClockOffset: the clock of a client pod is off, so that when it
	// started and ended is not known.
	ReasonClockOffset = "ClockOffset"
	// ReasonHistoryCompacted: the past that watchers of WatchGet were to read was
	// compacted, so that for a while the load went on without them.
	ReasonHistoryCompacted = "HistoryCompacted"
)

// Reasons of Cleaned.
const (
	// ReasonKeysDeleted: every client pod reported its keys deleted, or the cleanup
	// Job deleted them.
	ReasonKeysDeleted = "KeysDeleted"
	// ReasonKeysLeft: keys of the run may be left under its prefix.
	ReasonKeysLeft = "KeysLeft"
	// ReasonNothingWritten: the run ended before it wrote to the target.
	ReasonNothingWritten = "NothingWritten"
)
