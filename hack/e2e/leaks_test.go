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
	// leakRuns follow a warm-up of leakBatch runs. After the warm-up, the operator has opened and allocated everything
	// that it keeps permanently.
	leakRuns  = 200
	leakBatch = 20
)

// The allowed increase over leakRuns runs. A leak of one item per run would show as 200.
const (
	// leakGoroutines: some come and go with connections to the API server.
	leakGoroutines = 15
	// leakFiles are open files, mostly connections.
	leakFiles = 10
	// leakBytes is 5 KiB per run. The object of one of these runs, with its result, takes 10 KB as JSON, and the data
	// about its pod more. Measured were 3 KB per run: the events library caches recent events for some minutes.
	leakBytes = leakRuns * 5 << 10
)

// checkLeaks compares the operator's footprint after many runs with that after a few.
func checkLeaks(t *testing.T) {
	ns := namespace(t, "leaks")
	operator := watchOperator(t, ns)
	runBatch(t, ns, 0)
	before := operator.atRest(t)
	for batch := range leakRuns / leakBatch {
		runBatch(t, ns, batch+1)
	}
	var after footprint
	eventually(t, 3*time.Minute, "the operator to release the resources of the runs", func(context.Context) error {
		after = operator.atRest(t)
		return after.leaked(before)
	})
	t.Logf("the operator used %+v after %d runs, and %+v after %d more", before, leakBatch, after, leakRuns)
}

// runBatch runs small runs from creation to deletion, all at once.
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
	eventually(t, goneWithin, "all objects of the runs to be removed", func(ctx context.Context) error {
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

// newTiny requests few resources of the node, so that many fit on it.
func newTiny(ns, name string) *v1alpha1.EtcdBenchmark {
	b := newPutIn(ns, suite.side, name, 20)
	b.Spec.Load.Pods, b.Spec.Load.Connections, b.Spec.Load.Clients = 1, 1, 1
	little := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
	b.Spec.Pod = &v1alpha1.PodSettings{Resources: &corev1.ResourceRequirements{Requests: little}}
	return b
}
