//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// pinnedRun is a run that is kept in one stage, so that the operator is killed exactly there.
type pinnedRun struct {
	name  string
	stage string
	// start creates the run and everything that keeps it in its stage.
	start func(*testing.T, *v1alpha1.EtcdBenchmark)
	// resume, if set, lets the run continue.
	resume func(*testing.T, *v1alpha1.EtcdBenchmark)
}

// checkPodDeletedRestart replaces the operator's pod at once.
func checkPodDeletedRestart(t *testing.T) {
	checkRestart(t, "operator-pod-deleted", func(t *testing.T) {
		pod, err := suite.operatorPod(suite.ctx)
		if err != nil {
			t.Fatal(err)
		}
		mustKubectl(t, "delete", "pod", "-n", operatorNamespace, pod.Name, "--grace-period=0", "--force")
	})
}

// checkProcessKilledRestart kills the operator's process: the lease is not released.
func checkProcessKilledRestart(t *testing.T) {
	checkRestart(t, "operator-process-killed", killOperatorProcess)
}

// checkRestart keeps one run in each stage, kills the operator once, and requires every run to end normally.
func checkRestart(t *testing.T, what string, kill func(*testing.T)) {
	ns := namespace(t, what)
	jobs := recordLoadJobs(t, ns)
	before := putForeign(t, suite.side)
	pinned := pinnedRuns(ns)
	runs := make([]*v1alpha1.EtcdBenchmark, len(pinned))
	for i, h := range pinned {
		runs[i] = newPutIn(ns, suite.side, h.name, 2000)
		h.start(t, runs[i])
		awaitStage(t, runs[i], h.stage)
	}
	for i, h := range pinned {
		requireStage(t, runs[i], h.stage)
	}
	kill(t)
	for i, h := range pinned {
		if h.resume != nil {
			h.resume(t, runs[i])
		}
	}
	for i, h := range pinned {
		t.Run(h.name, func(t *testing.T) {
			b := awaitEnd(t, runs[i])
			requireWhole(t, victim{run: b, target: suite.side, before: before})
			jobs.requireOne(t, b)
			reliability.add(t, strings.ReplaceAll(what, "-", " "), h.stage, b, false)
		})
	}
}

// requireWhole requires that a run completed in spite of the restart, and did no harm.
func requireWhole(t *testing.T, v victim) {
	t.Helper()
	requireCompleted(t, v.run)
	requireMeasured(t, v.run, *v.run.Spec.Load.Requests)
	v.requireNoHarm(t)
}

func requireStage(t *testing.T, b *v1alpha1.EtcdBenchmark, stage string) {
	t.Helper()
	found, err := get(suite.ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := wantReason(found, v1alpha1.ConditionFinished, stage); err != nil {
		t.Fatalf("before the operator was killed: %v", err)
	}
}

// pinnedRuns are sorted by how long they stay in their stage.
func pinnedRuns(ns string) []pinnedRun {
	last := int(newPutIn(ns, suite.side, "", 1).Spec.Load.Pods) - 1
	start := blockAnnotation(ns, "armed", plan.AnnotationStartAt).ofPod(last)
	return []pinnedRun{
		{
			name: "preparing", stage: v1alpha1.StagePreparing,
			start:  startUnschedulable,
			resume: func(t *testing.T, b *v1alpha1.EtcdBenchmark) { labelNodes(t, b.Namespace, "go") },
		},
		{
			// The start is in status and on the first pod, but not on the last.
			name: "armed", stage: v1alpha1.StageArmed,
			start:  func(t *testing.T, b *v1alpha1.EtcdBenchmark) { start.set(t); startHalfArmed(t, b) },
			resume: func(t *testing.T, _ *v1alpha1.EtcdBenchmark) { start.release(t) },
		},
		{name: "collecting", stage: v1alpha1.StageCollecting, start: startUncleaned, resume: deleteKeys},
		{name: "running", stage: v1alpha1.StageRunning, start: startLong},
	}
}

// startUnschedulable asks for a node label that no node has yet.
func startUnschedulable(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	b.Spec.Pod = &v1alpha1.PodSettings{NodeSelector: map[string]string{b.Namespace: "go"}}
	create(t, b)
}

// startHalfArmed waits until every pod except the last has its start.
func startHalfArmed(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	create(t, b)
	eventually(t, 2*time.Minute, "the first pod to have its start", func(ctx context.Context) error {
		pods, err := podsOf(ctx, b)
		if err != nil {
			return err
		}
		started := 0
		for _, pod := range pods {
			if pod.Annotations[plan.AnnotationStartAt] != "" {
				started++
			}
		}
		if want := int(b.Spec.Load.Pods) - 1; started != want {
			return fmt.Errorf("wanted %d pods with a start, found %d", want, started)
		}
		return nil
	})
}

// startUncleaned is a run whose pods wait with their results.
func startUncleaned(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	b.Spec = newSlow(suite.side, b.Name).Spec
	create(t, b)
	addMissingPod(t, victim{run: b, target: suite.side})
}

// deleteKeys deletes the keys as the missing last pod would.
func deleteKeys(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	if _, err := suite.side.etcdctl("del", "--prefix", b.KeyPrefix()); err != nil {
		t.Fatal(err)
	}
}

// startLong makes the run last as long as a restart may take.
func startLong(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 100}
	create(t, b)
}

// labelNodes sets a label on every node, and removes it when the test ends.
func labelNodes(t *testing.T, key, value string) {
	t.Helper()
	mustKubectl(t, "label", "nodes", "--all", "--overwrite", key+"="+value)
	t.Cleanup(func() {
		if _, err := suite.detached().kubectl("label", "nodes", "--all", key+"-"); err != nil {
			t.Error(err)
		}
	})
}
