package local

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Who interrupts a run of which all is measured loses nothing of it.
func TestAnInterruptAfterTheLoadLosesNothing(t *testing.T) {
	run := mixed(at(members(t, 1).endpoints()...))
	c, err := newConductor(run, options(nil), run.Spec.Target.Endpoints)
	if err != nil {
		t.Fatal(err)
	}
	c.begin(time.Now())
	_, ended := c.startSessions(t.Context())
	for loading := true; loading; {
		select {
		case <-ended:
			loading = false
		case <-time.After(askEvery):
			c.look(time.Now())
		}
	}
	c.interrupt(time.Now())
	c.finish(time.Now())
	wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonCompleted)
	if s := run.Status.Summary; s == nil || s.Partial {
		t.Errorf("a run that was interrupted when all was measured is shown as partial, or not at all: %+v", s)
	}
}
