package local

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// begin takes up the run.
func (c *conductor) begin(now time.Time) {
	s := &c.run.Status
	s.ObservedGeneration = c.run.Generation
	s.StartTime = &metav1.Time{Time: now.Truncate(time.Second)}
	s.Target = benchmark.TargetStatus(c.run, c.plan.Target.Endpoints, nil)
	s.Conditions = nil
	c.run.KeepResolved()
	c.setStage(v1alpha1.StagePreparing, "Starting the load.", now)
}

// start gives the sessions their common start.
func (c *conductor) start(at time.Time) {
	t := metav1.NewMicroTime(at.UTC())
	c.run.Status.StartAt = &t
	c.gate.open(at)
}

// observe brings what the sessions have counted into status.
func (c *conductor) observe(now time.Time, snaps []*results.Snapshot) {
	s := &c.run.Status
	if t := c.target(snaps); t != nil {
		s.Target = benchmark.TargetStatus(c.run, c.plan.Target.Endpoints, t)
	}
	s.Pods = nil
	for _, snap := range snaps {
		s.Pods = append(s.Pods, benchmark.Pod(snap))
	}
	s.Progress = benchmark.Progress(c.run, snaps)
	stage, message := c.stage(now, snaps)
	c.setStage(stage, message, now)
	s.Display = benchmark.Display(c.run)
}

// target leaves out the memory and the processor time of embedded members: they
// share a process, so that each would show those of all of them and of the load
// generator.
func (c *conductor) target(snaps []*results.Snapshot) *results.Target {
	t := results.Merge(snaps).Target
	if t == nil || c.options.EmbeddedMembers == 0 {
		return t
	}
	out := *t
	out.Members = nil
	for _, m := range t.Members {
		m.ResidentMemoryBytes = 0
		m.Window = m.Window.Without(results.FigureMemoryBytes, results.FigureCPUSeconds)
		out.Members = append(out.Members, m)
	}
	return &out
}

// stage is where the run is, in the operator's words.
func (c *conductor) stage(now time.Time, snaps []*results.Snapshot) (stage, message string) {
	ready, measured := 0, 0
	for i, snap := range snaps {
		if c.sessions[i].Ready() {
			ready++
		}
		if snap.HasMeasured() {
			measured++
		}
	}
	switch startAt := c.run.Status.StartAt; {
	case startAt == nil:
		return v1alpha1.StagePreparing, fmt.Sprintf("Parts ready to start: %d of %d.", ready, len(snaps))
	case startAt.After(now):
		return v1alpha1.StageArmed, "All wait for the common start."
	case measured == len(snaps):
		return v1alpha1.StageCollecting, "The keys are being deleted."
	}
	return v1alpha1.StageRunning, fmt.Sprintf("Parts loading the target: %d of %d.", len(snaps)-measured, len(snaps))
}

// finish writes the result. All sessions have ended, so their snapshots are final.
func (c *conductor) finish(now time.Time) {
	for len(c.failed) > 0 {
		c.end(c.failure(<-c.failed))
	}
	snaps := c.snapshots()
	c.heedGuard(snaps)
	if c.ending == nil {
		c.ending = &ending{v1alpha1.ReasonCompleted, "All of the load was done."}
	}
	c.observe(now, snaps)
	s := &c.run.Status
	s.CompletionTime = &metav1.Time{Time: now.Truncate(time.Second)}
	s.Progress = nil
	c.setResult(snaps, now)
	c.setCleaned(snaps, now)
	c.ending.message = benchmark.EndingMessage(c.run, c.ending.reason, c.ending.message)
	c.set(v1alpha1.ConditionFinished, metav1.ConditionTrue, c.ending.reason, c.ending.message, now)
	meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionReconciling)
	if benchmark.CouldNotRun(c.ending.reason) {
		c.set(v1alpha1.ConditionStalled, metav1.ConditionTrue, c.ending.reason, c.ending.message, now)
	}
	s.Display = benchmark.Display(c.run)
	c.options.Show(c.run.DeepCopy())
}

// setResult writes summary and verdict. A run that never measured has no
// summary, for its zeros would read as numbers, and says all the same what it
// sent.
func (c *conductor) setResult(snaps []*results.Snapshot, now time.Time) {
	s := &c.run.Status
	var summary *results.Summary
	merged := results.Merge(snaps)
	if merged.Window.Start.IsZero() {
		s.RequestCounts = benchmark.RequestCounts(merged.Requests)
	} else {
		sum := results.Summarize(snaps)
		sum.Target = c.target(snaps)
		sum.Warnings = append(sum.Warnings, c.options.warnings(c.run, c.plan.Target.Endpoints)...)
		summary = &sum
		s.Summary = benchmark.Summary(c.run, sum)
		s.Summary.Validity.Shared = c.options.shared(c.plan.Target.Endpoints)
		c.options.advise(s.Summary.Validity)
		s.Summary.Partial = s.Summary.Partial || c.ending.reason != v1alpha1.ReasonCompleted
	}
	objectives, passed := benchmark.Judge(c.run, summary, c.ending.reason)
	s.Objectives = objectives
	if passed != nil {
		c.set(v1alpha1.ConditionPassed, passed.Status, passed.Reason, passed.Message, now)
	}
}

func (c *conductor) setCleaned(snaps []*results.Snapshot, now time.Time) {
	status, reason, message := metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted, "All keys of the run were deleted."
	switch results.Merge(snaps).Cleaning {
	case results.CleaningNothingWritten:
		reason, message = v1alpha1.ReasonNothingWritten, "The run wrote nothing to the target."
	case results.CleaningKeysLeft:
		status, reason = metav1.ConditionFalse, v1alpha1.ReasonKeysLeft
		message = "Keys may be left in the target. To delete them: " + c.run.RemovalCommand()
	}
	c.set(v1alpha1.ConditionCleaned, status, reason, message, now)
}

func (c *conductor) setStage(stage, message string, now time.Time) {
	c.set(v1alpha1.ConditionFinished, metav1.ConditionFalse, stage, message, now)
	c.set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, stage, message, now)
}

func (c *conductor) set(kind string, status metav1.ConditionStatus, reason, message string, now time.Time) {
	meta.SetStatusCondition(&c.run.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.run.Generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	})
}
