package lifecycle

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// SetStatus sets the status of a run after a decision about what was observed, in a cluster and without one. recent has
// the counts of the last call. It returns the result so far, which is that of the report if the decision ends the run.
func SetStatus(run *v1alpha1.EtcdBenchmark, o Observed, d Decision, recent *benchmark.Recent, now time.Time) results.Summary {
	keepDecision(run, d, now)
	if run.HasFinished() {
		setCleaned(run, d.Cleaned, now)
		return results.Summary{}
	}
	sum := results.Summarize(newest(o.Pods))
	sum.SharesNode = o.SharesNode
	keepMembers(run, o, d)
	judged := keepResults(run, o, d, sum)
	if d.Finish == nil {
		setProgress(run, o.Pods, sum, recent)
		setCondition(run, v1alpha1.ConditionFinished, metav1.ConditionFalse, d.Stage, d.Message, now)
		setCondition(run, v1alpha1.ConditionReconciling, metav1.ConditionTrue, d.Stage, d.Message, now)
	} else {
		setFinished(run, *d.Finish, sum, judged, now)
		setCleaned(run, d.Cleaned, now)
	}
	run.Status.Display = render.Display(run)
	return sum
}

// keepDecision copies the decision's values into status.
func keepDecision(run *v1alpha1.EtcdBenchmark, d Decision, now time.Time) {
	s := &run.Status
	s.ObservedGeneration = run.Generation
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: now.Truncate(time.Second)}
		s.CreatedVersion = run.ResourceVersion
		// The CRD's default conditions mean that the run has not been seen; their time is 1970.
		s.Conditions = nil
	}
	run.KeepResolved()
	if len(d.Endpoints) > 0 || s.Target == nil && run.Spec.Target.Disk != nil {
		s.Target = benchmark.TargetStatus(run, d.Endpoints, nil)
		s.Target.Nodes, s.Target.NotReady = d.Nodes, int32(d.NotReady)
	}
	s.Queue = d.Queue
	s.Admission = cmp.Or(d.Admission, s.Admission)
	s.StartAt = cmp.Or(d.StartAt, s.StartAt)
	s.Ending = cmp.Or(s.Ending, d.Ending)
}

// keepResults copies the pods' results into status. Results that a restarted operator has not scraped again stay
// unchanged. It returns the result to judge; nil before the run has measured, and if status has more than these pods.
func keepResults(run *v1alpha1.EtcdBenchmark, o Observed, d Decision, sum results.Summary) (judged *results.Summary) {
	s := &run.Status
	if t := sum.Merged.Target; t != nil && len(t.Members) > 0 && s.Target != nil {
		before := s.Target
		s.Target = benchmark.TargetStatus(run, before.Endpoints, t)
		s.Target.Nodes, s.Target.NotReady = before.Nodes, before.NotReady
	}
	s.Pods = podStatuses(run, o.Pods, d.Finish != nil)
	if s.Guard == nil && endsByGuard(s, d.Finish) {
		s.Guard = benchmark.Guard(run, newest(o.Pods))
	}
	if sum.Merged.Window.Start.IsZero() || d.Finish == nil && !haveMeasured(o.Pods) {
		return nil
	}
	newer := benchmark.Summary(run, sum)
	if d.Finish != nil {
		newer.Members = benchmark.WithMembers(newer.Members, run.Status.Target, o.Kubelets.of)
	}
	if s.Summary = moreComplete(s.Summary, newer); s.Summary == newer {
		judged = &sum
	}
	return judged
}

// warningLostDetail is the warning on a summary that was saved before a restart.
const warningLostDetail = "The operator restarted after a client pod was lost. The summary was saved before the restart; the report, if there is one, lacks that pod's detail."

// moreComplete returns the newer summary, unless it has fewer requests than the old one.
func moreComplete(old, newer *v1alpha1.Summary) *v1alpha1.Summary {
	if old == nil || old.MeasuredRequests <= newer.MeasuredRequests {
		return newer
	}
	old.Partial = true
	if !slices.Contains(old.Warnings, warningLostDetail) {
		old.Warnings = verdict.AppendWarning(old.Warnings, warningLostDetail)
	}
	return old
}

func endsByGuard(s *v1alpha1.EtcdBenchmarkStatus, finish *Problem) bool {
	return finish != nil && finish.Reason == v1alpha1.ReasonGuardStopped ||
		s.Ending != nil && s.Ending.Reason == v1alpha1.ReasonGuardStopped
}

// haveMeasured reports whether all measured numbers are final. Deleting keys changes none of them, so the summary need
// not wait for it.
func haveMeasured(pods []Pod) bool {
	return !slices.ContainsFunc(pods, func(p Pod) bool {
		s := p.Newest()
		return s == nil || !s.HasMeasured()
	})
}

// setProgress sets the progress of a run once a pod has reported.
func setProgress(run *v1alpha1.EtcdBenchmark, pods []Pod, sum results.Summary, recent *benchmark.Recent) {
	if slices.ContainsFunc(pods, func(p Pod) bool { return p.Newest() != nil }) {
		run.Status.Progress = progressOf(run, pods, sum)
	}
	if p := run.Status.Progress; p != nil {
		recent.Update(p, sum.Merged, newest(pods))
	}
}

// progressOf returns the progress of a run. While pods cannot be scraped, its rate is that of the others, because that of
// all pods is not known.
func progressOf(run *v1alpha1.EtcdBenchmark, pods []Pod, sum results.Summary) *v1alpha1.Progress {
	p := benchmark.Progress(run, sum, newest(pods))
	answering := slices.DeleteFunc(slices.Clone(pods), isSilent)
	if p.SilentPods = int32(len(pods) - len(answering)); p.SilentPods > 0 {
		p.ThroughputPerSecond = text.RateOf(results.Summarize(newest(answering)).Throughput).Decimal()
	}
	return p
}

// setFinished sets the end of a run and its verdict. A run that measured nothing has only its request counts: the zeros of
// a summary would look like measured numbers.
func setFinished(run *v1alpha1.EtcdBenchmark, p Problem, sum results.Summary, judged *results.Summary, now time.Time) {
	s := &run.Status
	s.CompletionTime, s.Progress = &metav1.Time{Time: now.Truncate(time.Second)}, nil
	if s.Summary == nil {
		s.RequestCounts = benchmark.RequestCounts(sum.Requests)
	} else {
		s.Summary.Partial = s.Summary.Partial || p.Reason != v1alpha1.ReasonCompleted
	}
	objectives, passed := verdict.Judge(run, judged, p.Reason)
	if s.Objectives = objectives; passed != nil {
		setCondition(run, v1alpha1.ConditionPassed, passed.Status, passed.Reason, passed.Message, now)
	}
	p.Message = benchmark.EndingMessage(run, p.Reason, p.Message)
	setCondition(run, v1alpha1.ConditionFinished, metav1.ConditionTrue, p.Reason, p.Message, now)
	meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionReconciling)
	if verdict.CouldNotRun(p.Reason) {
		setCondition(run, v1alpha1.ConditionStalled, metav1.ConditionTrue, p.Reason, p.Message, now)
	}
}

func setCleaned(run *v1alpha1.EtcdBenchmark, c *Cleaned, now time.Time) {
	if c != nil {
		setCondition(run, v1alpha1.ConditionCleaned, c.Status, c.Reason, c.Message, now)
	}
}

func setCondition(run *v1alpha1.EtcdBenchmark, kind string, status metav1.ConditionStatus, reason, message string, now time.Time) {
	benchmark.SetCondition(&run.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}, run.Generation, now)
}
