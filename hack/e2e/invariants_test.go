//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// keyOfARun matches the keys of runs with a generated prefix, and the key of the target's lock.
var keyOfARun = regexp.MustCompile(`^etcdbench/(\.lock$|[0-9a-f]{8}/)`)

// foreignKeys are the keys of a store that belong to no run. Keys of other runs come and go.
func foreignKeys(t *testing.T, c *etcdCluster) map[string]entry {
	t.Helper()
	found := mustStore(t, c, "")
	maps.DeleteFunc(found, func(key string, _ entry) bool { return keyOfARun.MatchString(key) })
	return found
}

// putForeign writes neighbours into a store that runs share, and returns all foreign keys of the store.
func putForeign(t *testing.T, c *etcdCluster) map[string]entry {
	t.Helper()
	putNeighbours(t, c, neighbours)
	return foreignKeys(t, c)
}

// requireNoHarm checks what holds for every run on a shared etcd: it ended in time, its keys are deleted, no foreign
// key has changed, and nothing of it remains in Kubernetes.
func (v victim) requireNoHarm(t *testing.T) {
	t.Helper()
	requireInTime(t, v.run)
	v.requireCleaned(t, false)
	if diff := cmp.Diff(v.before, foreignKeys(t, v.target)); diff != "" {
		t.Errorf("foreign keys were changed (-before +after):\n%s", diff)
	}
	v.requireNothingLeft(t)
}

// requireCleaned requires that the run's keys are deleted by its own pods or by the cleanup Job, which may continue
// after the end. Keys that existed before do not count.
func (v victim) requireCleaned(t *testing.T, gone bool) {
	t.Helper()
	eventually(t, cleanedWithin, "the keys to be gone", func(ctx context.Context) error {
		left, err := v.target.store(v.run.KeyPrefix())
		maps.DeleteFunc(left, func(key string, _ entry) bool { _, was := v.before[key]; return was })
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d keys are left under %s", len(left), v.run.KeyPrefix())
		}
		return err
	})
	if gone {
		return
	}
	eventually(t, cleanedWithin, "Cleaned to be True", func(ctx context.Context) error {
		found, err := get(ctx, v.run)
		if err != nil {
			return err
		}
		found.DeepCopyInto(v.run)
		if !meta.IsStatusConditionTrue(found.Status.Conditions, v1alpha1.ConditionCleaned) {
			return fmt.Errorf("the conditions are %+v", found.Status.Conditions)
		}
		return nil
	})
}

// requireNothingLeft requires that no object of the run contains a secret. Then it deletes the run, if it exists, and
// requires that all its objects disappear.
func (v victim) requireNothingLeft(t *testing.T) {
	t.Helper()
	requireSecrecyIn(t, v.run.Namespace)
	if t.Failed() {
		dump(t, v.run.Namespace)
	}
	if err := suite.client.Delete(suite.ctx, v.run.DeepCopy()); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	eventually(t, goneWithin, "all objects of the run to be removed", func(ctx context.Context) error {
		if err := deleted(ctx, v.run); err != nil {
			return err
		}
		for _, list := range []client.ObjectList{&batchv1.JobList{}, &corev1.PodList{}, &corev1.ConfigMapList{}} {
			if err := suite.client.List(ctx, list, client.InNamespace(v.run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(v.run.UID)}); err != nil {
				return err
			}
			if n := meta.LenList(list); n > 0 {
				return fmt.Errorf("%d objects of %T are left", n, list)
			}
		}
		return nil
	})
}
