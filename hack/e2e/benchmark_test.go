//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// finishWithin is far longer than any run of the suite needs, so that a slow machine does not cause a failure.
const finishWithin = 5 * time.Minute

// newPut is a small run of puts in the target's namespace, on two pods.
func newPut(c *etcdCluster, name string, requests int64) *v1alpha1.EtcdBenchmark {
	return newPutIn(c.namespace, c, name, requests)
}

// newPutIn is newPut in another namespace than the target's.
func newPutIn(namespace string, c *etcdCluster, name string, requests int64) *v1alpha1.EtcdBenchmark {
	return &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			// The tests share a few targets and do not check the speed.
			Target: v1alpha1.Target{Endpoints: c.endpoints(), ConcurrentRuns: v1alpha1.ConcurrentRunsAllow},
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
				Keys: spec.Keys{Count: 1000, SizeBytes: 8}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64},
			}},
			Load: spec.Load{Pods: 2, Connections: 4, Clients: 8, Requests: &requests, Seed: 1},
		},
	}
}

// newRange is a small run of reads.
func newRange(c *etcdCluster, name string, consistency spec.Consistency, requests int64) *v1alpha1.EtcdBenchmark {
	b := newPut(c, name, requests)
	b.Spec.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
		Delivery: spec.DeliveryWhole, Consistency: consistency, Keys: spec.Keys{Count: 500, SizeBytes: 8, Distribution: spec.Uniform}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64},
	}}
	return b
}

// create creates the object. If the test fails, it writes a dump of the namespace.
func create(t *testing.T, b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	t.Helper()
	if err := suite.client.Create(suite.ctx, b); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			dump(t, b.Namespace)
		}
	})
	return b
}

// get returns the current object.
func get(ctx context.Context, b *v1alpha1.EtcdBenchmark) (*v1alpha1.EtcdBenchmark, error) {
	found := &v1alpha1.EtcdBenchmark{}
	err := suite.client.Get(ctx, client.ObjectKeyFromObject(b), found)
	return found, err
}

// awaitStage waits until the run is in a stage.
func awaitStage(t *testing.T, b *v1alpha1.EtcdBenchmark, stage string) *v1alpha1.EtcdBenchmark {
	t.Helper()
	eventually(t, 2*time.Minute, b.Name+" to be "+stage, func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		b = found
		if ended(b) {
			return nil
		}
		return wantReason(b, v1alpha1.ConditionFinished, stage)
	})
	if err := wantReason(b, v1alpha1.ConditionFinished, stage); err != nil {
		t.Fatal(err)
	}
	return b
}

func ended(b *v1alpha1.EtcdBenchmark) bool {
	return meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished)
}

// awaitEnd waits until the run is finished, Cleaned is decided and the pods have ended. Then the run no longer accesses
// the target.
func awaitEnd(t *testing.T, b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	t.Helper()
	eventually(t, finishWithin, b.Name+" to end", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		b = found
		if !ended(b) {
			return wantReason(b, v1alpha1.ConditionFinished, "True")
		}
		if meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionCleaned) == nil {
			return fmt.Errorf("the condition Cleaned is missing")
		}
		return podsEnded(ctx, b)
	})
	return b
}

func podsEnded(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
	pods, err := podsOf(ctx, b)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodRunning {
			return fmt.Errorf("pod %s still runs", pod.Name)
		}
	}
	return nil
}

// podsOf returns the run's pods.
func podsOf(ctx context.Context, b *v1alpha1.EtcdBenchmark) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := suite.client.List(ctx, &pods, client.InNamespace(b.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(b.UID)})
	return pods.Items, err
}

// awaitKeysDeleted waits until the run or its cleanup Job has deleted its keys.
func awaitKeysDeleted(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	eventually(t, 2*time.Minute, "the keys to be deleted", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		return wantReason(found, v1alpha1.ConditionCleaned, v1alpha1.ReasonKeysDeleted)
	})
}

// runToEnd creates the object and waits for its end.
func runToEnd(t *testing.T, b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	t.Helper()
	return awaitEnd(t, create(t, b))
}

// wantReason returns an error with the condition's state if it does not have this reason.
func wantReason(b *v1alpha1.EtcdBenchmark, condition, reason string) error {
	found := meta.FindStatusCondition(b.Status.Conditions, condition)
	if found == nil {
		return fmt.Errorf("%s: wanted the condition %s with reason %s, found none", b.Name, condition, reason)
	}
	if found.Reason != reason {
		return fmt.Errorf("%s: wanted %s with reason %s, found %s (%s): %s", b.Name, condition, reason, found.Status, found.Reason, found.Message)
	}
	return nil
}
