package local

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// An interrupt after the measurement does not make the result partial.
func TestAnInterruptAfterTheLoadLosesNothing(t *testing.T) {
	run := mixed(at(etcdtest.Start(t, 1, nil).Endpoints...))
	c := &controller{run: run, options: options(nil)}
	if err := c.prepare(); err != nil {
		t.Fatal(err)
	}
	c.begin(time.Now())
	_, ended := c.startSessions(t.Context())
	for loading := true; loading; {
		select {
		case <-ended:
			loading = false
		case <-time.After(pollInterval):
			c.tick(time.Now())
		}
	}
	c.interrupt(time.Now())
	c.finish(time.Now())
	wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonCompleted)
	if s := run.Status.Summary; s == nil || s.Partial {
		t.Errorf("the result is partial or missing after a complete measurement: %+v", s)
	}
}
