//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// namespaceFaults delete the namespace of a run, not that of its etcd: the pods
// are told to end, and must delete the keys by themselves.
func namespaceFaults() map[string]fault {
	return map[string]fault{"namespace deleted": {apart: true, strike: deleteItsNamespace, in: map[string]outcome{
		v1alpha1.StagePreparing: {}, v1alpha1.StageArmed: {}, v1alpha1.StageRunning: {},
		// The pods give up waiting for the one that does not exist, and no cleanup
		// Job can be created any more.
		v1alpha1.StageCollecting: {left: true},
	}}}
}

// deleteItsNamespace returns when the namespace is gone: the run's finalizer
// must not hold it.
func deleteItsNamespace(t *testing.T, v victim) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v.run.Namespace}}
	if err := suite.client.Delete(suite.ctx, ns); err != nil {
		t.Fatal(err)
	}
	eventually(t, goneWithin, "the namespace to be gone", func(ctx context.Context) error {
		err := suite.client.Get(ctx, client.ObjectKeyFromObject(ns), ns)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there (%w): %+v", err, ns.Status)
	})
}
