//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const (
	// leakRuns follow a warm-up of leakBatch runs, after which the operator has
	// opened, and allocated, what it keeps for good.
	leakRuns  = 200
	leakBatch = 20
)

// What the operator may have more after leakRuns runs than before. Of each, a
// leak of one per run would show as 200.
const (
	// leakGoroutines: some come and go with connections to the API server.
	leakGoroutines = 15
	// leakFiles are open files: connections, most of all.
	leakFiles = 10
	// leakBytes is 5 KiB a run. The object of one of these runs, with its result,
	// takes 10 KB as JSON, and what is known of its pod is more. Measured were 3 KB
	// a run: the events library remembers for some minutes what was told.
	leakBytes = leakRuns * 5 << 10
)

// checkLeaks holds what the operator has in its hands after many runs against
// what it had after a few.
func checkLeaks(t *testing.T) {
	ns := namespace(t, "leaks")
	operator := watchOperator(t, ns)
	runBatch(t, ns, 0)
	before := operator.atRest(t)
	for batch := range leakRuns / leakBatch {
		runBatch(t, ns, batch+1)
	}
	var after footprint
	eventually(t, 3*time.Minute, "the operator to have let go of what it had for the runs", func(context.Context) error {
		after = operator.atRest(t)
		return after.leaked(before)
	})
	t.Logf("the operator held %+v after %d runs, and %+v after %d more", before, leakBatch, after, leakRuns)
}

// runBatch takes small runs from their creation to their deletion, all at once.
func runBatch(t *testing.T, ns string, batch int) {
	t.Helper()
	began := time.Now()
	var runs []*v1alpha1.EtcdBenchmark
	for i := range leakBatch {
		runs = append(runs, create(t, newTiny(ns, fmt.Sprintf("run-%d-%d", batch, i))))
	}
	for _, b := range runs {
		requireCompleted(t, awaitEnd(t, b))
	}
	if err := suite.client.DeleteAllOf(suite.ctx, &v1alpha1.EtcdBenchmark{}, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	eventually(t, goneWithin, "nothing of the runs to be left", func(ctx context.Context) error {
		var pods corev1.PodList
		if err := suite.client.List(ctx, &pods, client.InNamespace(ns)); err != nil || len(pods.Items) > 0 {
			return fmt.Errorf("%d pods are left (%w)", len(pods.Items), err)
		}
		for _, b := range runs {
			if err := deleted(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
	t.Logf("batch %d: %d runs in %s", batch, leakBatch, time.Since(began).Round(time.Second))
}

// newTiny asks for little of the node, so that many fit on it.
func newTiny(ns, name string) *v1alpha1.EtcdBenchmark {
	b := newPutIn(ns, suite.side, name, 20)
	b.Spec.Load.Pods, b.Spec.Load.Connections, b.Spec.Load.Clients = 1, 1, 1
	little := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
	b.Spec.Pod = &v1alpha1.PodSettings{Resources: &corev1.ResourceRequirements{Requests: little}}
	return b
}
