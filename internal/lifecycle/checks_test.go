package lifecycle

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// allPartsDone reports whether the started pod of each index did its whole load, known to the operator or not.
func (w *world) allPartsDone() bool { return w.partsDone() == int(w.run.Spec.Load.Pods) }

func (w *world) partsDone() int {
	n := 0
	for _, name := range w.started {
		if c := w.clients[name]; c != nil && c.did {
			n++
		}
	}
	return n
}

// checkFinish compares the reason of the end with what has really happened. A completed or partly completed run must
// have done its load; any other reason must follow from an injected fault.
func (w *world) checkFinish(o Observed, d Decision) {
	if d.Finish == nil {
		return
	}
	reason, done := d.Finish.Reason, w.partsDone()
	switch reason {
	case v1alpha1.ReasonCompleted:
		if !w.allPartsDone() {
			w.fail("Completed, but %d of %d pods did their load", done, len(o.Pods))
		}
	case v1alpha1.ReasonPartlyCompleted:
		if done == 0 || o.spec().OnPodLost != v1alpha1.PodLossContinue {
			w.fail("PartlyCompleted, but %d of %d pods did their load", done, len(o.Pods))
		}
	case v1alpha1.ReasonStopped:
		if w.allPartsDone() && o.everyPod(Pod.HasWholeResult) {
			w.fail("Stopped, and every pod reported that it did its whole load")
		}
	}
	if w.onlyPlanned && reason != v1alpha1.ReasonCompleted && !slices.ContainsFunc(w.injected, func(b fault) bool { return slices.Contains(b.mayEndAs, reason) }) {
		w.fail("%s, which no injected fault explains", reason)
	}
}

// checkCleaned compares the condition Cleaned with the store.
func (w *world) checkCleaned() {
	c := meta.FindStatusCondition(w.run.Status.Conditions, v1alpha1.ConditionCleaned)
	switch {
	case c == nil:
	case c.Status == metav1.ConditionTrue && (w.members.Job.Exists || w.going):
		w.fail("Cleaned is True (%s), and members are left", c.Reason)
	case c.Status == metav1.ConditionTrue && w.store.keys:
		w.fail("Cleaned is True (%s), and keys are left", c.Reason)
	case c.Reason == v1alpha1.ReasonNothingWritten && w.store.wrote:
		w.fail("Cleaned reports that nothing was written, but keys were written")
	case c.Reason == v1alpha1.ReasonKeysDeleted && !w.store.wrote && w.cleanups == 0:
		w.fail("Cleaned reports that keys were deleted, but none were written")
	case c.Status == metav1.ConditionFalse && w.cleanups == 0:
		w.fail("Cleaned is False, but no cleanup Job was created")
	}
}

// checkNotes: a deleted object must report its remaining keys, and only those.
func (w *world) checkNotes() {
	noted := slices.ContainsFunc(w.notes, func(n Note) bool { return n.Reason == v1alpha1.ReasonKeysLeft })
	cleaned := meta.IsStatusConditionTrue(w.run.Status.Conditions, v1alpha1.ConditionCleaned)
	switch {
	case w.run.Spec.Target.Ephemeral != nil && !cleaned && !noted && len(w.members.Pods) > 0 && w.membersMade > 0 && (w.members.Job.Exists || w.going):
		w.fail("the object is gone and members are left, without a note")
	case w.store.keys && !noted:
		w.fail("the object is gone and keys are left, without a note")
	case cleaned && noted:
		w.fail("Cleaned is True, but a note reports that keys may be left")
	}
}
