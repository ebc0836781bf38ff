package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// maxMessage bounds the text from other sources in a condition's message.
const maxMessage = 1500

// check returns a reason to end the run early, nil if there is none.
type check func(Observed, time.Time) *Problem

// checks are ordered by how much they explain: first the user's request, then the pods' reports, then the cluster's
// view of the pods, then time.
var checks = []check{
	checkStop, checkCaps, checkGuard, checkReports, checkMembers, checkJob, checkLost, checkStuck, checkRefused,
	checkPreparation, checkTimeout, checkTarget, checkObjectives, checkLateStop,
}

// decideEnding ends a run that cannot or must not complete. It asks the live pods to stop and gives them time to
// report.
func decideEnding(o Observed, now time.Time) *Decision {
	if e := o.status().Ending; e != nil && !o.endedBeforeStop() {
		return end(o, *e, now)
	}
	for _, c := range checks {
		if p := c(o, now); p != nil {
			return new(Refuse(o, *p, now))
		}
	}
	return nil
}

// Refuse returns the decision to end the run for a reason that only an action can find, for example a load Job that the
// API server does not accept. For a finished run, the reason is a refused cleanup Job.
func Refuse(o Observed, p Problem, now time.Time) Decision {
	o.Seen = o.Seen.by(now)
	if o.finished() {
		return refuseCleanup(o, p.Message)
	}
	e := v1alpha1.Ending{Reason: p.Reason, Message: text.Shorten(p.Message, maxMessage), Since: metav1.NewTime(now.Truncate(time.Second))}
	d := end(o, e, now)
	d.Stage = later(o.stage(), d.Stage)
	return *d
}

func end(o Observed, e v1alpha1.Ending, now time.Time) *Decision {
	deadline := reportedBy(o, e)
	if o.everyPod(Pod.isSettled) || !now.Before(deadline) {
		d := finish(o, Problem{e.Reason, e.Message})
		d.Ending = &e
		return d
	}
	d := &Decision{
		Stage:   v1alpha1.StageCollecting,
		Message: fmt.Sprintf("Waiting for the client pods to report; then the run ends as %s: %s", e.Reason, e.Message),
		Ending:  &e,
	}
	d.wake(deadline, now)
	d.wake(now.Add(heartbeat), now)
	requestStop(o, d, now)
	return d
}

// reportedBy is the deadline for the reports of the live pods. A run finishes at most a minute after its timeout; only
// after an absence of the operator the pods get more time.
func reportedBy(o Observed, e v1alpha1.Ending) time.Time {
	by, limit := o.Seen.Ending.Add(endingGrace(e.Reason)), timesOut(o).Add(timeoutGrace)
	if by.Before(limit) {
		return by
	}
	return latest(limit, o.Seen.Ending.Add(min(timeoutGrace, endingGrace(e.Reason))))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// requestStop waits until status holds the reason. Otherwise a pod that stops early would look like an evicted pod.
func requestStop(o Observed, d *Decision, now time.Time) {
	if o.status().Ending == nil {
		d.wake(now, now)
		return
	}
	d.Actions = append(stopExtraPods(o.ExtraPods), releaseUnreachable(o.Pods)...)
	for _, p := range o.Pods {
		if p.State == PodRunning {
			d.Actions = appendMarks(d.Actions, p, true, false)
		}
	}
}

// checkGuard runs before checkLost, because a pod stops by itself when its guard fires and would look like an evicted
// pod. A rule that fires while the pods only delete keys ends nothing.
func checkGuard(o Observed, _ time.Time) *Problem {
	if o.everyPod(Pod.HasWholeResult) {
		return nil
	}
	if fired := benchmark.Guard(o.Run, newest(o.Pods)); fired != nil {
		return &Problem{v1alpha1.ReasonGuardStopped, benchmark.GuardMessage(fired)}
	}
	return nil
}

// checkObjectives ends a run that has missed an objective already, if the run asks for that.
func checkObjectives(o Observed, _ time.Time) *Problem {
	if o.spec().OnObjectiveMissed != v1alpha1.ObjectiveMissedStop || o.status().StartAt == nil || o.everyPod(Pod.HasWholeResult) {
		return nil
	}
	if why := verdict.MissedAlready(o.Run, newest(o.Pods)); why != "" {
		return &Problem{v1alpha1.ReasonMissedEarly, why}
	}
	return nil
}

// checkReports returns the failure that explains most. A pod that ran out of time explains least and is left to
// checkTimeout: the time may have passed because another pod is missing.
func checkReports(o Observed, _ time.Time) *Problem {
	var reported *Problem
	for _, p := range o.Pods {
		s := p.Newest()
		if s == nil || s.Failure == nil || p.ranOutOfTime() {
			continue
		}
		found := &Problem{knownReason(s.Failure.Reason), p.String() + ": " + s.Failure.Message}
		if reported == nil || reported.Reason == v1alpha1.ReasonPodFailed {
			reported = found
		}
	}
	return reported
}

// knownReason keeps arbitrary text from a pod out of a condition's reason.
func knownReason(r results.FailureReason) string {
	switch r {
	case results.FailureTargetUnreachable, results.FailureTargetUnhealthy, results.FailureTLSFailed,
		results.FailureAuthenticationFailed, results.FailureSecretInvalid, results.FailurePrefixNotEmpty,
		results.FailureInvalidPlan, results.FailureNoQuorum, results.FailureAlarmRaised,
		results.FailureQuotaInsufficient, results.FailureControlPlaneTarget, results.FailureUnsupported,
		results.FailureTimedOut, results.FailureTargetLost, results.FailureTargetBusy, results.FailureTargetTaken,
		results.FailureOwnershipLost:
		return string(r)
	}
	return v1alpha1.ReasonPodFailed
}

// checkJob does not recreate a Job that is gone, because that would run the load again. A start time without a recorded
// Job also means that the Job is gone.
func checkJob(o Observed, _ time.Time) *Problem {
	s := o.status()
	if s.Job != nil && o.Job.Exists && o.Job.UID == s.Job.UID || s.Job == nil && s.StartAt == nil {
		return nil
	}
	return &Problem{v1alpha1.ReasonJobDeleted, fmt.Sprintf(
		"The load Job %s was deleted during the run. The operator does not create it again, because that would run the load again.", o.Run.LoadJobName())}
}

func checkLost(o Observed, now time.Time) *Problem {
	for _, p := range o.Pods {
		if p.ranOutOfTime() {
			continue
		}
		if t := podLoss(p, now); t != nil && !o.continuesWithout(p, now) {
			return t
		}
		if o.losesItsWatch(p) {
			return lost(p, "ended while it watched the target for the other client pods")
		}
		if p.State == PodEnded && o.status().StartAt == nil {
			return lost(p, cmp.Or(p.Exit, "ended")+" before the start")
		}
	}
	return nil
}

// podProblem returns why a single pod prevents its run from being Completed.
func podProblem(p Pod) *Problem {
	switch {
	case p.isFinal() && p.Final.Failure != nil:
		return &Problem{knownReason(p.Final.Failure.Reason), p.String() + ": " + p.Final.Failure.Message}
	case p.isFinal() && p.Final.Stopped:
		return lost(p, "was terminated before its load was done, by an eviction, a node shutdown or a deletion")
	case p.isFinal() && !p.Final.HasMeasured():
		return lost(p, fmt.Sprintf("ended early, in stage %s", p.Final.Stage))
	case p.isFinal():
		return nil
	case p.State == PodGone:
		return lost(p, "is gone and left no result: the pod or its node was deleted")
	case p.State == PodEnded:
		return lost(p, p.Exit+" without a final result; see its log")
	}
	return nil
}

func lost(p Pod, what string) *Problem {
	return &Problem{v1alpha1.ReasonPodFailed, p.String() + " " + what + "."}
}

// checkStuck leaves unschedulable pods to checkPreparation, because a new node may make room for them.
func checkStuck(o Observed, now time.Time) *Problem {
	for _, p := range o.Pods {
		if p.Stuck != nil && !p.isUnschedulable() && !now.Before(p.StuckSeen.Add(imageGrace)) {
			return &Problem{p.Stuck.Reason, p.String() + " cannot start: " + p.Stuck.Message}
		}
	}
	return nil
}

func checkRefused(o Observed, now time.Time) *Problem {
	if o.Job.Refused == "" || o.countPods(isMissing) == 0 || now.Before(o.Job.RefusalSeen.Add(refusalGrace)) {
		return nil
	}
	return &Problem{v1alpha1.ReasonPodsForbidden, "A quota, a limit range or an admission policy refuses the client pods: " + o.Job.Refused}
}

func isMissing(p Pod) bool { return p.State == PodMissing }

// checkPreparation does not check pods that preload keys; spec.timeoutSeconds bounds them. It does not check pods that
// wait for the lock of the target either: client pod 0 bounds that wait.
func checkPreparation(o Observed, now time.Time) *Problem {
	late := func(p Pod) bool {
		return !p.isReady() && !o.hasJustLocked(p) && !p.isPreloading() && !p.isWaiting() && !p.ranOutOfTime() && !p.awaitsFirstScrape(now)
	}
	missing := o.countPods(late)
	if o.status().StartAt != nil || o.status().Queue != nil || !o.Job.Exists || missing == 0 || now.Before(preparedBy(o)) {
		return nil
	}
	reason, p := v1alpha1.ReasonPodsNotReady, o.Pods[firstPod(o, late)]
	if i := firstPod(o, Pod.isUnschedulable); i >= 0 {
		reason, p = v1alpha1.ReasonUnschedulable, o.Pods[i]
	}
	return &Problem{reason, fmt.Sprintf("%d of %d client pods were not ready within spec.schedulingTimeoutSeconds (%d): %s %s.",
		missing, len(o.Pods), o.spec().SchedulingTimeoutSeconds, p, whyNotReady(p))}
}

// hasJustLocked reports whether client pod 0 has taken the lock, and status does not say so yet.
func (o Observed) hasJustLocked(p Pod) bool {
	a := o.status().Admission
	return a != nil && a.LockedAt == nil && p.Index == 0 && p.holdsLock()
}

func firstPod(o Observed, is func(Pod) bool) int { return slices.IndexFunc(o.Pods, is) }

func whyNotReady(p Pod) string {
	switch {
	case p.Stuck != nil:
		return "cannot start: " + strings.TrimSuffix(p.Stuck.Message, ".")
	case p.isLocking():
		return "waits for the lock of the target, which another run holds"
	case p.isWaiting():
		return "waits until the run holds the lock of the target"
	case p.isPreloading() && p.Live == nil:
		return "is writing the keys that the load needs"
	case p.isPreloading():
		return fmt.Sprintf("is writing the keys that the load needs, %s so far", text.Grouped(p.Live.Requests[spec.RPCPut][results.PhasePreload]))
	case p.Live != nil:
		return fmt.Sprintf("is still in stage %s", p.Live.Stage)
	}
	return map[PodState]string{
		PodMissing: "does not exist yet",
		PodWaiting: "waits for its container to start",
		PodRunning: "runs but has not reported yet",
	}[p.State]
}

// checkTimeout waits for the first scrape of each pod after the operator has restarted: the pods may have finished
// their measurement and wait to be scraped.
func checkTimeout(o Observed, now time.Time) *Problem {
	if i := firstPod(o, Pod.ranOutOfTime); i >= 0 {
		return &Problem{v1alpha1.ReasonTimedOut, o.Pods[i].String() + ": " + o.Pods[i].Newest().Failure.Message}
	}
	notScraped := o.countPods(func(p Pod) bool { return p.awaitsFirstScrape(now) })
	if now.Before(timesOut(o)) || o.status().StartAt != nil && notScraped > 0 {
		return nil
	}
	message := fmt.Sprintf("The run did not complete within spec.timeoutSeconds (%d); it was in stage %s.", o.spec().TimeoutSeconds, o.stage())
	if i := firstPod(o, func(p Pod) bool { return !p.isReady() }); i >= 0 && o.status().StartAt == nil {
		message = fmt.Sprintf("The run did not complete within spec.timeoutSeconds (%d); it had not started: %s %s.",
			o.spec().TimeoutSeconds, o.Pods[i], whyNotReady(o.Pods[i]))
	}
	return &Problem{v1alpha1.ReasonTimedOut, message}
}

func checkTarget(o Observed, now time.Time) *Problem {
	until := o.Seen.Run.Add(targetGrace)
	if o.Target.Starting > 0 {
		until = latest(until, membersBy(o, now))
	}
	if o.resolved() || o.Target.Missing == "" || o.started().IsZero() || now.Before(until) {
		return nil
	}
	return &Problem{v1alpha1.ReasonTargetNotFound, o.Target.Missing}
}

// preparedBy counts from when the Job was first seen, the admission, or when the run got the lock, whichever is last.
func preparedBy(o Observed) time.Time {
	from := o.Job.Seen
	if a := o.status().Admission; a != nil {
		from = latest(from, a.At.Time)
		if a.LockedAt != nil {
			from = latest(from, a.LockedAt.Time)
		}
	}
	return from.Add(seconds(o.spec().SchedulingTimeoutSeconds))
}

// ReportBy is the deadline for writing the report. After it, the run finishes without a report.
func ReportBy(o Observed) time.Time { return timesOut(o).Add(timeoutGrace) }

// timesOut is in the far future while the run waits for runs at its addresses or has not been queued yet.
func timesOut(o Observed) time.Time {
	from := o.started()
	switch a := o.status().Admission; {
	case a == nil && o.status().Job == nil, o.waitsFor(v1alpha1.QueueAddresses), !membersReady(o.Run):
		return time.Unix(1<<40, 0)
	case o.waitsFor(v1alpha1.QueueLock):
		// Client pod 0 bounds its wait itself, unless it hangs.
		from = o.status().Queue.Since.Add(seconds(o.spec().SchedulingTimeoutSeconds))
	case a != nil:
		from = a.At.Time
	}
	if e := o.status().Ephemeral; e != nil {
		from = latest(from, e.ReadyAt.Time)
	}
	return from.Add(seconds(o.spec().TimeoutSeconds))
}

// deadlines are the times at which a check can get a new result.
func deadlines(o Observed) []time.Time {
	out := []time.Time{timesOut(o), preparedBy(o)}
	if !membersReady(o.Run) {
		out = append(out, membersReadyBy(o))
	}
	for _, j := range []Job{o.Job, o.Members.Job} {
		if j.Refused != "" {
			out = append(out, j.RefusalSeen.Add(refusalGrace))
		}
	}
	for _, p := range slices.Concat(o.Pods, o.Members.Pods) {
		if p.Stuck != nil {
			out = append(out, p.StuckSeen.Add(imageGrace))
		}
		if !p.Asked.IsZero() {
			out = append(out, p.Asked.Add(firstScrapeGrace))
		}
	}
	return out
}
