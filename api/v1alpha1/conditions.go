package v1alpha1

import "k8s.io/apimachinery/pkg/api/meta"

// Condition types of an EtcdBenchmark.
const (
	// ConditionFinished is True when the run has ended, for any reason. Before that it is False, and its reason is the
	// stage.
	ConditionFinished = "Finished"
	// ConditionPassed is True if all objectives were met, False if one was missed, Unknown if that could not be judged,
	// and absent without objectives.
	ConditionPassed = "Passed"
	// ConditionCleaned is True if no key of the run is left in the target, False if keys are left, Unknown if that is
	// not known.
	ConditionCleaned = "Cleaned"
	// ConditionReconciling follows kstatus: it is present, and True, while the run goes on.
	ConditionReconciling = "Reconciling"
	// ConditionStalled follows kstatus: it is present, and True, if the run could not do what its spec asks for. A
	// missed objective does not stall a run.
	ConditionStalled = "Stalled"
)

// Reasons of Finished=False: the stages of a run, in order. StageQueued may come between the first two.
const (
	// StagePending: the operator resolves the target.
	StagePending = "Pending"
	// StageStarting: the members of spec.target.ephemeral start.
	StageStarting = "Starting"
	// StagePreparing: the operator writes the plan; the client pods are scheduled, connect and preload.
	StagePreparing = "Preparing"
	// StageArmed: all client pods are ready and receive the start time.
	StageArmed = "Armed"
	// StageRunning: warm-up, measured window and drain.
	StageRunning = "Running"
	// StageChecking: the operator asks the API server whether it accepts the runs of a suite.
	StageChecking = "Checking"
	// StageCollecting: the operator collects the final results, and the pods delete the keys.
	StageCollecting = "Collecting"
)

// Reasons of Finished=True.
const (
	// ReasonCompleted: the run did everything that its spec asks for.
	ReasonCompleted = "Completed"
	// ReasonStopped: spec.stop ended the run. The result has the measurements until then.
	ReasonStopped = "Stopped"
	// ReasonTimedOut: spec.timeoutSeconds ended the run.
	ReasonTimedOut = "TimedOut"
	// ReasonTargetNotFound: the Service, its port or the selected pods do not exist.
	ReasonTargetNotFound = "TargetNotFound"
	// ReasonTargetUnreachable: an address does not resolve, refuses connections or does not answer.
	ReasonTargetUnreachable = "TargetUnreachable"
	// ReasonTargetLost: the target stopped answering in the measured window and did not come back. The result has the
	// measurements until then.
	ReasonTargetLost = "TargetLost"
	// ReasonTargetBusy: another run held the lock of the target for spec.schedulingTimeoutSeconds. Nothing was written.
	ReasonTargetBusy = "TargetBusy"
	// ReasonTargetTaken: the run could not renew its lock of the target, and another run took it. The result has the
	// measurements until then.
	ReasonTargetTaken = "TargetTaken"
	// ReasonOwnershipLost: a client pod may not write any more, because its key or the run's marker is gone or cannot be
	// renewed. The result has the measurements until then.
	ReasonOwnershipLost = "OwnershipLost"
	// ReasonTargetUnhealthy: the target answers, but cannot be used.
	ReasonTargetUnhealthy = "TargetUnhealthy"
	// ReasonTLSFailed: the TLS handshake failed, in either direction.
	ReasonTLSFailed = "TLSFailed"
	// ReasonAuthenticationFailed: the target refused the user, or the user lacks permissions.
	ReasonAuthenticationFailed = "AuthenticationFailed"
	// ReasonSecretInvalid: a Secret, or a key in it, is missing or cannot be used.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonPrefixNotEmpty: other keys exist under the run's prefix, or another run owns a prefix around it.
	ReasonPrefixNotEmpty = "PrefixNotEmpty"
	// ReasonImageUnavailable: the client image cannot be pulled.
	ReasonImageUnavailable = "ImageUnavailable"
	// ReasonPodsForbidden: a quota, limit range or admission policy refused the client pods.
	ReasonPodsForbidden = "PodsForbidden"
	// ReasonUnschedulable: no node accepts the client pods.
	ReasonUnschedulable = "Unschedulable"
	// ReasonPodsNotReady: the client pods did not become ready in time.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonMembersNotReady: the members of spec.target.ephemeral did not become ready in time.
	ReasonMembersNotReady = "MembersNotReady"
	// ReasonPodFailed: a client pod was lost, or ended with an error of its own.
	ReasonPodFailed = "PodFailed"
	// ReasonInvalidCell: the API server refuses the run of a cell of a suite, or the suite can have no result.
	ReasonInvalidCell = "InvalidCell"
	// ReasonRunFailed: a run of a suite could not do its load, and spec.onRunFailed is Stop.
	ReasonRunFailed = "RunFailed"
	// ReasonGuardStopped: a rule of spec.guard.stopOn ended the run. status.guard names the rule. The result has the
	// measurements until then.
	ReasonGuardStopped = "GuardStopped"
	// ReasonMissedEarly: an objective could not be met any more, and spec.onObjectiveMissed is Stop. The result has the
	// measurements until then.
	ReasonMissedEarly = "MissedEarly"
	// ReasonPartlyCompleted: client pods were lost, spec.onPodLost let the others continue, and these completed their
	// work.
	ReasonPartlyCompleted = "PartlyCompleted"
	// ReasonJobDeleted: the load Job was deleted, and not by the operator.
	ReasonJobDeleted = "JobDeleted"
	// ReasonInvalidPlan: operator and client image have different versions, or the plan was replaced.
	ReasonInvalidPlan = "InvalidPlan"
)

// Reasons of Finished=True, of runs that were refused to keep the target safe.
const (
	// ReasonNoQuorum: the members have no leader.
	ReasonNoQuorum = "NoQuorum"
	// ReasonAlarmRaised: a member has raised NOSPACE or CORRUPT.
	ReasonAlarmRaised = "AlarmRaised"
	// ReasonQuotaInsufficient: the run is expected to write more than spec.guard permits.
	ReasonQuotaInsufficient = "QuotaInsufficient"
	// ReasonEndpointNotAllowed: the operator's configuration forbids load on an address of the target.
	ReasonEndpointNotAllowed = "EndpointNotAllowed"
	// ReasonLimitExceeded: the run needs more pods or a higher rate than the operator's configuration permits.
	ReasonLimitExceeded = "LimitExceeded"
	// ReasonControlPlaneTarget: the target holds the objects of a Kubernetes API server, the operator's configuration
	// lists its address as one of a control plane, or a running etcd uses its disk.
	ReasonControlPlaneTarget = "ControlPlaneTarget"
	// ReasonUnsupported: a member does not serve a call that the workload needs.
	ReasonUnsupported = "Unsupported"
)

// EventPodNotScraped is the reason of an event: the operator cannot read the metrics of a client pod.
const EventPodNotScraped = "PodNotScraped"

// Reasons in the results of a suite, for runs without a result.
const (
	// ReasonDeleted: somebody deleted the run before it ended.
	ReasonDeleted = "Deleted"
	// ReasonRefused: the API server refused to create the run.
	ReasonRefused = "Refused"
)

// Conditions of a schedule.
const (
	// ConditionSuspect says whether the last session was worse than those before.
	ConditionSuspect = "Suspect"
	// ConditionTrendBroken says whether numbers have become worse for good.
	ConditionTrendBroken = "TrendBroken"
)

// Reasons of the conditions of a schedule.
const (
	// ReasonInvalidSchedule: spec.schedule, spec.timeZone or spec.metrics cannot be used.
	ReasonInvalidSchedule = "InvalidSchedule"
	// ReasonAsExpected: the numbers of the last session are within the range of those before.
	ReasonAsExpected = "AsExpected"
	// ReasonWorse: at least one number of the last session is worse than expected.
	ReasonWorse = "Worse"
	// ReasonNoNumbers: the last session has no valid numbers.
	ReasonNoNumbers = "NoNumbers"
	// ReasonConfirmed: two sessions in a row were worse than expected.
	ReasonConfirmed = "Confirmed"
	// ReasonChanged: the history has a change for the worse that is not acknowledged, and the numbers are still worse.
	ReasonChanged = "Changed"
	// ReasonUnchanged: the history has no such change.
	ReasonUnchanged = "Unchanged"
	// ReasonTooFewSessions: the history is too short to say.
	ReasonTooFewSessions = "TooFewSessions"
)

// Reasons of Passed.
const (
	// ReasonObjectivesMet: every objective was met.
	ReasonObjectivesMet = "ObjectivesMet"
	// ReasonObjectivesMissed: at least one objective was missed.
	ReasonObjectivesMissed = "ObjectivesMissed"
	// ReasonRegressed: no run of a suite missed an objective, and at least one metric regressed.
	ReasonRegressed = "Regressed"
	// ReasonNotJudged: no objective was missed, but at least one could not be judged, or the run ended before its work
	// was done.
	ReasonNotJudged = "NotJudged"
	// ReasonClientBound: no objective was missed, and those that could not be judged could have a different result with
	// a faster client.
	ReasonClientBound = "ClientBound"
	// ReasonTailTooThin: no objective was missed, and those that could not be judged are about percentiles with too few
	// requests above them.
	ReasonTailTooThin = "TailTooThin"
)

// Reasons of Passed=Unknown that are about the run as a whole: its numbers do not describe the requested load.
const (
	// ReasonMembersMissing: members behind the target's Service or selector were not ready and got no load.
	ReasonMembersMissing = "MembersMissing"
	// ReasonMembersLost: a member of spec.target.ephemeral ended or was deleted during the run.
	ReasonMembersLost = "MembersLost"
	// ReasonMembersDiffer: the members of spec.target.ephemeral ran different images.
	ReasonMembersDiffer = "MembersDiffer"
	// ReasonTargetChanged: the leader, a version or the members of the target changed during the run.
	ReasonTargetChanged = "TargetChanged"
	// ReasonTargetNotObserved: the target was not observed, so a change during the run cannot be ruled out.
	ReasonTargetNotObserved = "TargetNotObserved"
	// ReasonStartsApart: the client pods did not start together.
	ReasonStartsApart = "StartsApart"
	// ReasonClockOffset: the clock of a client pod is wrong, so the times of its start and end are not known.
	ReasonClockOffset = "ClockOffset"
	// ReasonHistoryCompacted: the history that the watchers of WatchGet read was compacted, so the load ran for a while
	// without them.
	ReasonHistoryCompacted = "HistoryCompacted"
)

// Reasons of Cleaned.
const (
	// ReasonKeysDeleted: every client pod reported its keys deleted, or the cleanup Job deleted them.
	ReasonKeysDeleted = "KeysDeleted"
	// ReasonKeysLeft: keys of the run may be left under its prefix.
	ReasonKeysLeft = "KeysLeft"
	// ReasonPodStillWrites: a client pod that the operator has lost still shows in the target that it lives. Nothing is
	// deleted before it has ended.
	ReasonPodStillWrites = "PodStillWrites"
	// ReasonMembersDeleted: the run's own members are deleted, and its keys with them.
	ReasonMembersDeleted = "MembersDeleted"
	// ReasonMembersLeft: the run's own members are not deleted yet.
	ReasonMembersLeft = "MembersLeft"
	// ReasonNothingWritten: the run ended before it wrote to the target.
	ReasonNothingWritten = "NothingWritten"
)

// HasFinished reports whether the run has ended, for any reason.
func (b *EtcdBenchmark) HasFinished() bool {
	return meta.IsStatusConditionTrue(b.Status.Conditions, ConditionFinished)
}
