package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxMessage bounds what others' words may add to a condition's message.
const maxMessage = 1500

// check looks for one thing that ends a run early; nil if it is not there.
type check func(Observed, time.Time) *Problem

// checks are in order of what tells people most: what they asked for, then what
// the pods say, then what the cluster says of them, then time.
var checks = []check{
	checkStop, checkCaps, checkGuard, checkReports, checkJob, checkLost, checkStuck, checkRefused,
	checkPreparation, checkTimeout, checkTarget, checkLateStop,
}

// decideEnding ends a run that cannot, or shall not, complete: the pods that
// live are told to stop, and get a while to report.
func decideEnding(o Observed, now time.Time) *Decision {
	if e := o.status().Ending; e != nil && !o.outranStop() {
		return end(o, *e, now)
	}
	for _, c := range checks {
		if p := c(o, now); p != nil {
			return new(Refuse(o, *p, now))
		}
	}
	return nil
}

// Refuse returns the decision to end the run for a reason found now. It is
// exported for reasons that only an action can find, such as a load Job that
// the API server does not accept. Of a finished run it is the cleanup that was
// refused.
func Refuse(o Observed, p Problem, now time.Time) Decision {
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
		Message: fmt.Sprintf("Ending as %s (%s); waiting for the client pods to report.", e.Reason, e.Message),
		Ending:  &e,
	}
	d.wake(deadline, now)
	d.wake(now.Add(heartbeat), now)
	tellToStop(o, d, now)
	return d
}

// reportedBy is until when the living pods may report. A minute after its
// timeout a run is finished, whatever its pods do; only an operator that was
// away gives them longer.
func reportedBy(o Observed, e v1alpha1.Ending) time.Time {
	by, limit := e.Since.Add(endingGrace(e.Reason)), timesOut(o).Add(timeoutGrace)
	if by.Before(limit) {
		return by
	}
	return latest(limit, e.Since.Add(min(timeoutGrace, endingGrace(e.Reason))))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// tellToStop waits until status holds why: a pod that stops early would
// otherwise look like one that was evicted.
func tellToStop(o Observed, d *Decision, now time.Time) {
	if o.status().Ending == nil {
		d.wake(now, now)
		return
	}
	d.Actions = append(dismiss(o.Strangers), excuse(o.Pods)...)
	for _, p := range o.Pods {
		if p.State == PodRunning {
			d.Actions = appendMarks(d.Actions, p, true, false)
		}
	}
}

// checkGuard: a pod whose guard has fired stops by itself, and so would look
// like one that was evicted. A rule that fires while only keys are deleted any
// more has ended nothing.
func checkGuard(o Observed, _ time.Time) *Problem {
	if o.everyPod(Pod.HasWholeResult) {
		return nil
	}
	var newest []*results.Snapshot
	for _, p := range o.Pods {
		newest = append(newest, p.Newest())
	}
	if fired := benchmark.Guard(o.Run, newest); fired != nil {
		return &Problem{v1alpha1.ReasonGuardStopped, benchmark.GuardMessage(fired)}
	}
	return nil
}

// checkReports looks at what the pods say of themselves. Of several failures
// the one that says most is told. That its time ran out says least of all, and is
// left to checkTimeout: what took the time may be that another pod is missing.
func checkReports(o Observed, _ time.Time) *Problem {
	var told *Problem
	for _, p := range o.Pods {
		s := p.Newest()
		if s == nil || s.Failure == nil || p.ranOutOfTime() {
			continue
		}
		found := &Problem{knownReason(s.Failure.Reason), p.String() + ": " + s.Failure.Message}
		if told == nil || told.Reason == v1alpha1.ReasonPodFailed {
			told = found
		}
	}
	return told
}

// knownReason keeps what a pod sends from becoming a condition's reason unread.
func knownReason(r results.FailureReason) string {
	switch r {
	case results.FailureTargetUnreachable, results.FailureTargetUnhealthy, results.FailureTLSFailed,
		results.FailureAuthenticationFailed, results.FailureSecretInvalid, results.FailurePrefixNotEmpty,
		results.FailureInvalidPlan, results.FailureNoQuorum, results.FailureAlarmRaised,
		results.FailureQuotaInsufficient, results.FailureControlPlaneTarget, results.FailureUnsupported,
		results.FailureTimedOut:
		return string(r)
	}
	return v1alpha1.ReasonPodFailed
}

// checkJob: a Job that is gone is not created again, for that would run the
// load again. A start without a recorded Job is one, too.
func checkJob(o Observed, _ time.Time) *Problem {
	s := o.status()
	if s.Job != nil && o.Job.Exists && o.Job.UID == s.Job.UID || s.Job == nil && s.StartAt == nil {
		return nil
	}
	return &Problem{v1alpha1.ReasonJobDeleted, fmt.Sprintf(
		"The load Job %s was deleted by somebody while the run went on; it is not created again, since that would run the load again.", o.Run.LoadJobName())}
}

func checkLost(o Observed, now time.Time) *Problem {
	for _, p := range o.Pods {
		if p.ranOutOfTime() {
			continue
		}
		if t := lossOf(p, now); t != nil && !o.goesOnWithout(p, now) {
			return t
		}
		if p.State == PodEnded && o.status().StartAt == nil {
			return lost(p, cmp.Or(p.Exit, "ended")+" before the start")
		}
	}
	return nil
}

// trouble says why a pod, by itself, keeps its run from being Completed.
func trouble(p Pod) *Problem {
	switch {
	case p.isFinal() && p.Final.Failure != nil:
		return &Problem{knownReason(p.Final.Failure.Reason), p.String() + ": " + p.Final.Failure.Message}
	case p.isFinal() && p.Final.Stopped:
		return lost(p, "was told to terminate before its load was done, by an eviction, a node's shutdown or a deletion")
	case p.isFinal() && p.Final.Stage != results.StageDone:
		return lost(p, fmt.Sprintf("ended in stage %s", p.Final.Stage))
	case p.isFinal():
		return nil
	case p.State == PodGone:
		return lost(p, "is gone, and left no result: it, or its node, was deleted")
	case p.State == PodEnded:
		return lost(p, p.Exit+" without a final result; its log may say more")
	}
	return nil
}

func lost(p Pod, what string) *Problem {
	return &Problem{v1alpha1.ReasonPodFailed, p.String() + " " + what}
}

// checkStuck: what no node has room for may come with a new node, and is left
// to checkPreparation.
func checkStuck(o Observed, now time.Time) *Problem {
	for _, p := range o.Pods {
		if p.Stuck != nil && !p.isUnschedulable() && !now.Before(p.StuckSince.Add(imageGrace)) {
			return &Problem{p.Stuck.Reason, p.String() + " cannot start: " + p.Stuck.Message}
		}
	}
	return nil
}

func checkRefused(o Observed, now time.Time) *Problem {
	if o.Job.Refused == "" || o.countPods(isMissing) == 0 || now.Before(o.Job.RefusedSince.Add(refusalGrace)) {
		return nil
	}
	return &Problem{v1alpha1.ReasonPodsForbidden, "The client pods are refused by a quota, a limit range or an admission policy: " + o.Job.Refused}
}

func isMissing(p Pod) bool { return p.State == PodMissing }

// checkPreparation leaves pods that write the keys of a large preload to
// spec.timeoutSeconds, and those that wait for their turn to whom they wait for.
func checkPreparation(o Observed, now time.Time) *Problem {
	late := func(p Pod) bool {
		return !p.isReady() && !p.isPreloading() && !p.isWaiting() && !p.ranOutOfTime() && !p.isUnheard(now)
	}
	missing := o.countPods(late)
	if o.status().StartAt != nil || o.status().Queue != nil || !o.Job.Exists || missing == 0 || now.Before(preparedBy(o)) {
		return nil
	}
	reason, p := v1alpha1.ReasonPodsNotReady, o.Pods[firstPod(o, late)]
	if i := firstPod(o, Pod.isUnschedulable); i >= 0 {
		reason, p = v1alpha1.ReasonUnschedulable, o.Pods[i]
	}
	return &Problem{reason, fmt.Sprintf("%d of %d client pods were not ready within spec.schedulingTimeoutSeconds (%d): %s %s",
		missing, len(o.Pods), o.spec().SchedulingTimeoutSeconds, p, whyNotReady(p))}
}

func firstPod(o Observed, is func(Pod) bool) int { return slices.IndexFunc(o.Pods, is) }

func whyNotReady(p Pod) string {
	switch {
	case p.Stuck != nil:
		return "cannot start: " + p.Stuck.Message
	case p.isWaiting():
		return "waits for its turn at the target"
	case p.isPreloading() && p.Live == nil:
		return "writes the keys that the load will read"
	case p.isPreloading():
		return fmt.Sprintf("writes the keys that the load will read, %s until now", text.Grouped(p.Live.Requests[spec.RPCPut][results.PhasePreload]))
	case p.Live != nil:
		return fmt.Sprintf("is still in stage %s", p.Live.Stage)
	}
	return map[PodState]string{
		PodMissing: "does not exist yet",
		PodWaiting: "waits for its container to start",
		PodRunning: "runs, and does not report yet",
	}[p.State]
}

// checkTimeout waits for the first word of pods to an operator that has just
// come: they may have measured all that they were to, and wait to be asked.
func checkTimeout(o Observed, now time.Time) *Problem {
	if i := firstPod(o, Pod.ranOutOfTime); i >= 0 {
		return &Problem{v1alpha1.ReasonTimedOut, o.Pods[i].String() + ": " + o.Pods[i].Newest().Failure.Message}
	}
	unheard := o.countPods(func(p Pod) bool { return p.isUnheard(now) })
	if now.Before(timesOut(o)) || o.status().StartAt != nil && unheard > 0 {
		return nil
	}
	message := fmt.Sprintf("The run did not complete within spec.timeoutSeconds (%d); it was in stage %s.", o.spec().TimeoutSeconds, o.stage())
	if i := firstPod(o, func(p Pod) bool { return !p.isReady() }); i >= 0 && o.status().StartAt == nil {
		message = fmt.Sprintf("The run did not complete within spec.timeoutSeconds (%d); before the start, %s %s.",
			o.spec().TimeoutSeconds, o.Pods[i], whyNotReady(o.Pods[i]))
	}
	return &Problem{v1alpha1.ReasonTimedOut, message}
}

func checkTarget(o Observed, now time.Time) *Problem {
	if o.resolved() || o.Target.Missing == "" || o.started().IsZero() || now.Before(o.started().Add(targetGrace)) {
		return nil
	}
	return &Problem{v1alpha1.ReasonTargetNotFound, o.Target.Missing}
}

// preparedBy counts from the later of the Job's creation and the pods' turn.
func preparedBy(o Observed) time.Time {
	from := o.Job.Created
	if a := o.status().Admission; a != nil && a.At.After(from) {
		from = a.At.Time
	}
	return from.Add(seconds(o.spec().SchedulingTimeoutSeconds))
}

// ReportBy is when the run's report, if it could not be written yet, must not
// keep the run from finishing any longer.
func ReportBy(o Observed) time.Time { return timesOut(o).Add(timeoutGrace) }

// timesOut is never while the run queues, or has yet to.
func timesOut(o Observed) time.Time {
	from := o.started()
	switch a := o.status().Admission; {
	case a == nil && o.status().Job == nil, o.status().Queue != nil:
		return time.Unix(1<<40, 0)
	case a != nil:
		from = a.At.Time
	}
	return from.Add(seconds(o.spec().TimeoutSeconds))
}

// deadlines are the times at which a check may find what it did not find before.
func deadlines(o Observed) []time.Time {
	out := []time.Time{timesOut(o), preparedBy(o)}
	if o.Job.Refused != "" {
		out = append(out, o.Job.RefusedSince.Add(refusalGrace))
	}
	for _, p := range o.Pods {
		if p.Stuck != nil {
			out = append(out, p.StuckSince.Add(imageGrace))
		}
		if !p.Asked.IsZero() {
			out = append(out, p.Asked.Add(hearGrace))
		}
	}
	return out
}
