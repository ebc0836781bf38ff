//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// pinnedStage brings a run into a stage and keeps it there.
type pinnedStage struct {
	// start creates the run and returns when it is in the stage.
	start func(*testing.T, victim)
	// resume, if set, lets the run continue.
	resume func(*testing.T, victim)
}

// collectingRequests is the number of requests of a run that is kept in Collecting.
const collectingRequests = 300

// stages are those in which a run can be kept.
func stages() map[string]pinnedStage {
	ready := func(v victim) writeBlock { return blockStage(v.run.Namespace, v1alpha1.StageArmed) }
	start := func(v victim) writeBlock { return blockAnnotation(v.run.Namespace, v.run.Name, plan.AnnotationStartAt) }
	return map[string]pinnedStage{
		// Another run uses the target until this one has ended.
		v1alpha1.StageQueued: {start: queueBehindHolder, resume: endHolder},
		// All pods are ready, but the operator cannot write the next stage.
		v1alpha1.StagePreparing: {
			start: func(t *testing.T, v victim) {
				ready(v).set(t)
				create(t, v.run)
				awaitReadyPods(t, v.run)
			},
			resume: func(t *testing.T, v victim) { ready(v).release(t) },
		},
		// The start is in status, and on no pod.
		v1alpha1.StageArmed: {
			start: func(t *testing.T, v victim) {
				start(v).set(t)
				awaitStage(t, create(t, v.run), v1alpha1.StageArmed).DeepCopyInto(v.run)
			},
			resume: func(t *testing.T, v victim) { start(v).release(t) },
		},
		v1alpha1.StageRunning: {
			start: func(t *testing.T, v victim) { awaitMeasuring(t, create(t, v.run)).DeepCopyInto(v.run) },
		},
		// All pods have measured. Before they delete the keys, they wait for a pod that does not exist. Only the fault
		// can end this wait.
		v1alpha1.StageCollecting: {
			start: func(t *testing.T, v victim) {
				v.run.Spec.Load.Requests, v.run.Spec.Load.WarmupSeconds = new(int64(collectingRequests)), 4
				create(t, v.run)
				addMissingPod(t, v)
				awaitStage(t, v.run, v1alpha1.StageCollecting).DeepCopyInto(v.run)
			},
		},
	}
}

func awaitReadyPods(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	eventually(t, 2*time.Minute, "all pods to be ready", func(ctx context.Context) error {
		pods, err := podsOf(ctx, b)
		if err != nil {
			return err
		}
		ready := 0
		for _, pod := range pods {
			for _, status := range pod.Status.ContainerStatuses {
				if status.Ready {
					ready++
				}
			}
		}
		if ready != int(b.Spec.Load.Pods) {
			return fmt.Errorf("%d of %d pods are ready", ready, b.Spec.Load.Pods)
		}
		return nil
	})
	awaitStage(t, b, v1alpha1.StagePreparing).DeepCopyInto(b)
}

// missingPodMarker is the marker under a run's prefix of a pod that does not exist.
func missingPodMarker(b *v1alpha1.EtcdBenchmark) string { return b.KeyPrefix() + ".pod/000099" }

// addMissingPod writes the marker of one more pod under the run's prefix: the others wait with their results until that
// pod has ended.
func addMissingPod(t *testing.T, v victim) {
	t.Helper()
	eventually(t, 2*time.Minute, "the prefix to be claimed", func(context.Context) error {
		keys, err := v.target.store(v.run.KeyPrefix() + ".owner")
		if err == nil && len(keys) == 0 {
			err = fmt.Errorf("%s has no owner", v.run.KeyPrefix())
		}
		return err
	})
	if _, err := v.target.etcdctl("put", missingPodMarker(v.run), ""); err != nil {
		t.Fatal(err)
	}
}
