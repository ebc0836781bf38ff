//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkEndings ends runs early, in every way that a user can.
func checkEndings(t *testing.T) {
	ns := namespace(t, "endings")
	for name, check := range map[string]func(*testing.T, string){
		"stopped":   checkStopped,
		"timed out": checkTimedOut,
		"deleted":   checkDeleted,
		"ttl":       checkTTL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, ns)
		})
	}
}

// newEndless is a run that would last for an hour.
func newEndless(ns, name string) *v1alpha1.EtcdBenchmark {
	return endless(newPutIn(ns, suite.side, name, 0))
}

func endless(b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	hour := int32(3600)
	b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = nil, &hour
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 100}
	b.Spec.TimeoutSeconds = 2 * hour
	return b
}

// awaitMeasuring waits until the run has measured some requests.
func awaitMeasuring(t *testing.T, b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	t.Helper()
	eventually(t, 2*time.Minute, b.Name+" to measure", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		b = found
		if b.Status.Progress == nil || b.Status.Progress.Requests < 100 {
			return fmt.Errorf("progress is %+v", b.Status.Progress)
		}
		return nil
	})
	return b
}

func checkStopped(t *testing.T, ns string) {
	b := awaitMeasuring(t, create(t, newEndless(ns, "stopped")))
	stopRun(t, b)
	requireCutShort(t, awaitEnd(t, b), v1alpha1.ReasonStopped)
}

func checkTimedOut(t *testing.T, ns string) {
	// A closed loop: it is not known in advance that its requests take longer than the time-out.
	b := newPutIn(ns, suite.side, "timed-out", 100_000_000)
	b.Spec.Load.Pods, b.Spec.Load.Connections, b.Spec.Load.Clients = 1, 1, 1
	b.Spec.Guard = &spec.Guard{AcceptWrites: true}
	b.Spec.TimeoutSeconds = 40
	requireCutShort(t, runToEnd(t, b), v1alpha1.ReasonTimedOut)
}

// requireCutShort requires that a run that was ended early keeps its results and leaves no key.
func requireCutShort(t *testing.T, b *v1alpha1.EtcdBenchmark, reason string) {
	t.Helper()
	requireReason(t, b, reason)
	if b.Status.Summary == nil || b.Status.Summary.MeasuredRequests < 100 {
		t.Fatalf("wanted the requests that were measured before the end, found %+v", b.Status.Summary)
	}
	if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionCleaned) {
		t.Errorf("wanted Cleaned=True, found %+v", b.Status.Conditions)
	}
	requireNoKeys(t, b)
	requireAllPods(t, b)
}

func requireNoKeys(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	if left := mustStore(t, suite.side, b.KeyPrefix()); len(left) > 0 {
		t.Errorf("%d keys are left under %s", len(left), b.KeyPrefix())
	}
}

// checkDeleted deletes the object in the middle of the run. Its finalizer is removed when the keys are deleted, and its
// pods go with it.
func checkDeleted(t *testing.T, ns string) {
	b := awaitMeasuring(t, create(t, newEndless(ns, "deleted")))
	if err := suite.client.Delete(suite.ctx, b); err != nil {
		t.Fatal(err)
	}
	eventually(t, 3*time.Minute, "the object to be gone", func(ctx context.Context) error { return deleted(ctx, b) })
	requireNoKeys(t, b)
	eventually(t, 2*time.Minute, "the pods to be gone", func(ctx context.Context) error {
		pods, err := podsOf(ctx, b)
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d pods are left", len(pods))
		}
		return err
	})
}

func checkTTL(t *testing.T, ns string) {
	b := newPutIn(ns, suite.side, "ttl", 200)
	ttl := int32(5)
	b.Spec.TTLSecondsAfterFinished = &ttl
	create(t, b)
	eventually(t, finishWithin, "the object to be gone", func(ctx context.Context) error { return deleted(ctx, b) })
	requireNoKeys(t, b)
}
