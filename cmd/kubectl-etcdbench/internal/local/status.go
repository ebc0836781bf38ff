package local

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// begin sets the first status of the run.
func (c *controller) begin(now time.Time) {
	s := &c.run.Status
	s.ObservedGeneration = c.run.Generation
	s.StartTime = &metav1.Time{Time: now.Truncate(time.Second)}
	s.Target = benchmark.TargetStatus(c.run, c.plan.Target.Endpoints, nil)
	s.Conditions = nil
	c.run.KeepResolved()
	c.setStage(v1alpha1.StagePreparing, "Starting the load. Without a cluster, each client pod is a part of this process.", now)
}

// start sets the common start of the sessions.
func (c *controller) start(at time.Time) {
	t := metav1.NewMicroTime(at.UTC())
	c.run.Status.StartAt = &t
	c.gate.open(at)
}

// observe writes the sessions' numbers into status.
func (c *controller) observe(snaps []*results.Snapshot) {
	s := &c.run.Status
	if t := c.target(snaps); t != nil {
		s.Target = benchmark.TargetStatus(c.run, c.plan.Target.Endpoints, t)
	}
	s.Pods = nil
	for _, snap := range snaps {
		s.Pods = append(s.Pods, benchmark.Pod(snap))
	}
	s.Progress = benchmark.Progress(c.run, snaps)
	c.recent.Update(s.Progress, snaps)
	s.Display = render.Display(c.run)
}

// target omits the memory and the processor time of embedded members. They share a process, so each would show the sum
// of all members and of the load generator.
func (c *controller) target(snaps []*results.Snapshot) *results.Target {
	t := results.TargetOf(snaps)
	if t == nil || c.options.EmbeddedMembers == 0 {
		return t
	}
	out := *t
	out.Members = nil
	for _, m := range t.Members {
		m.ResidentMemoryBytes = 0
		m.Window = m.Window.Without(results.FigureMemoryBytes, results.FigureMemoryStartBytes, results.FigureCPUSeconds)
		out.Members = append(out.Members, m)
	}
	return &out
}

// finish writes the result. All sessions have ended, so their snapshots are final.
func (c *controller) finish(now time.Time) {
	o := c.observation()
	d := lifecycle.Decide(o, now)
	finish, cleaned := d.Finish, d.Cleaned
	if finish == nil {
		finish, cleaned = &lifecycle.Problem{Reason: v1alpha1.ReasonPodFailed, Message: d.Message}, &lifecycle.Cleaned{Reason: v1alpha1.ReasonKeysLeft}
	}
	snaps, s := snapshotsOf(o), &c.run.Status
	if finish.Reason == v1alpha1.ReasonGuardStopped {
		s.Guard = benchmark.Guard(c.run, snaps)
	}
	s.CompletionTime = &metav1.Time{Time: now.Truncate(time.Second)}
	c.observe(snaps)
	s.Progress = nil
	c.setResult(snaps, finish.Reason, now)
	c.setCleaned(*cleaned, now)
	reason, message := finish.Reason, c.localMessage(benchmark.EndingMessage(c.run, finish.Reason, finish.Message))
	c.set(v1alpha1.ConditionFinished, metav1.ConditionTrue, reason, message, now)
	meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionReconciling)
	if verdict.CouldNotRun(reason) {
		c.set(v1alpha1.ConditionStalled, metav1.ConditionTrue, reason, message, now)
	}
	s.Display = render.Display(c.run)
	c.options.Show(c.run.DeepCopy())
}

// setResult writes summary and verdict. A run that measured nothing has only its request counts: the zeros of a summary
// would look like measured numbers.
func (c *controller) setResult(snaps []*results.Snapshot, reason string, now time.Time) {
	s := &c.run.Status
	var summary *results.Summary
	sum := results.Summarize(snaps)
	if sum.Merged.Window.Start.IsZero() {
		s.RequestCounts = benchmark.RequestCounts(sum.Merged.Requests)
	} else {
		sum.Target = c.target(snaps)
		sum.SharesNode = c.options.shared(c.plan.Target.Endpoints) != ""
		summary = &sum
		s.Summary = benchmark.Summary(c.run, sum)
		for _, w := range c.options.warnings(c.run, c.plan.Target.Endpoints) {
			s.Summary.Warnings = verdict.AppendWarning(s.Summary.Warnings, w)
		}
		s.Summary.Validity.Shared = c.options.shared(c.plan.Target.Endpoints)
		c.options.advise(c.run)
		s.Summary.Partial = s.Summary.Partial || reason != v1alpha1.ReasonCompleted
	}
	objectives, passed := verdict.Judge(c.run, summary, reason)
	s.Objectives = objectives
	if passed != nil {
		c.set(v1alpha1.ConditionPassed, passed.Status, passed.Reason, passed.Message, now)
	}
}

// setCleaned sets the condition Cleaned. Without a cluster no cleanup Job follows, so the user has to delete keys that
// are left, unless they are those of others.
func (c *controller) setCleaned(k lifecycle.Cleaned, now time.Time) {
	switch {
	case k.Status == metav1.ConditionTrue:
	case c.options.EmbeddedMembers > 0:
		k = lifecycle.Cleaned{Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonKeysDeleted, Message: "The keys are gone with the embedded members."}
	default:
		why, spared := c.whyLeft()
		k.Status, k.Message = metav1.ConditionFalse, "Keys may be left in the target"+why+"."
		if !spared {
			k.Message += " " + benchmark.Leftover(c.run).String()
		}
	}
	c.set(v1alpha1.ConditionCleaned, k.Status, k.Reason, c.localMessage(k.Message), now)
}

// whyLeft continues a sentence with why keys may be left. spared: those of others are.
func (c *controller) whyLeft() (why string, spared bool) {
	var all []string
	for _, s := range c.sessions {
		f := load.FailureOf(s.WhyLeft())
		if f == nil {
			continue
		}
		spared = spared || f.Reason == results.FailurePrefixNotEmpty
		if !slices.Contains(all, f.Message) {
			all = append(all, f.Message)
		}
	}
	if len(all) == 0 {
		return "", spared
	}
	return ": " + strings.Join(all, "; "), spared
}

func (c *controller) setStage(stage, message string, now time.Time) {
	c.set(v1alpha1.ConditionFinished, metav1.ConditionFalse, stage, message, now)
	c.set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, stage, message, now)
}

func (c *controller) set(kind string, status metav1.ConditionStatus, reason, message string, now time.Time) {
	benchmark.SetCondition(&c.run.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}, c.run.Generation, now)
}
