package lifecycle

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// everyPartDone says that for each index the pod that was told to start did its whole
// load, whoever knows.
func (w *world) everyPartDone() bool { return w.partsDone() == int(w.run.Spec.Load.Pods) }

func (w *world) partsDone() int {
	n := 0
	for _, name := range w.started {
		if c := w.clients[name]; c != nil && c.did {
			n++
		}
	}
	return n
}

// checkFinish holds the reason of an end against what has really happened: that a
// run did its load, or some of it, must be so; anything else must follow from a blow
// that has struck before the end was certain.
func (w *world) checkFinish(o Observed, d Decision) {
	if d.Finish == nil {
		return
	}
	reason, done := d.Finish.Reason, w.partsDone()
	switch reason {
	case v1alpha1.ReasonCompleted:
		if !w.everyPartDone() {
			w.fail("Completed, and %d of %d pods did their load", done, len(o.Pods))
		}
	case v1alpha1.ReasonPartlyCompleted:
		if done == 0 || o.spec().OnPodLost != v1alpha1.PodLossContinue {
			w.fail("PartlyCompleted, and %d of %d pods did their load", done, len(o.Pods))
		}
	case v1alpha1.ReasonStopped:
		if w.everyPartDone() && o.everyPod(Pod.HasWholeResult) {
			w.fail("Stopped, and every pod has told that it did its whole load")
		}
	}
	if w.plotted && reason != v1alpha1.ReasonCompleted && !slices.ContainsFunc(w.struck, func(b blow) bool { return slices.Contains(b.tells, reason) }) {
		w.fail("%s, which is true of none of the blows that struck", reason)
	}
}

// checkCleaned holds what is said of the keys against the store.
func (w *world) checkCleaned() {
	c := meta.FindStatusCondition(w.run.Status.Conditions, v1alpha1.ConditionCleaned)
	switch {
	case c == nil:
	case c.Status == metav1.ConditionTrue && w.store.keys:
		w.fail("Cleaned is True (%s), and keys are left", c.Reason)
	case c.Reason == v1alpha1.ReasonNothingWritten && w.store.wrote:
		w.fail("Cleaned says that nothing was written, and something was")
	case c.Reason == v1alpha1.ReasonKeysDeleted && !w.store.wrote && w.cleanups == 0:
		w.fail("Cleaned says that keys were deleted, and none were written")
	case c.Status == metav1.ConditionFalse && w.cleanups == 0:
		w.fail("Cleaned is False, and nobody has tried to delete the keys")
	}
}

// checkFarewell: of an object that is gone, what it leaves is told, and nothing else.
func (w *world) checkFarewell() {
	told := slices.ContainsFunc(w.notes, func(n Note) bool { return n.Reason == v1alpha1.ReasonKeysLeft })
	cleaned := meta.IsStatusConditionTrue(w.run.Status.Conditions, v1alpha1.ConditionCleaned)
	switch {
	case w.store.keys && !told:
		w.fail("the object is gone, keys are left, and nobody was told")
	case cleaned && told:
		w.fail("Cleaned is True, and people are told that keys may be left")
	}
}
