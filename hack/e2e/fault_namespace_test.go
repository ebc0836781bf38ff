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

// namespaceFaults delete the namespace of a run, but not that of its etcd. The pods are terminated and must delete the
// keys by themselves.
func namespaceFaults() map[string]fault {
	return map[string]fault{"namespace deleted": {apart: true, inject: deleteItsNamespace, in: map[string]outcome{
		v1alpha1.StagePreparing: {}, v1alpha1.StageArmed: {}, v1alpha1.StageRunning: {},
		// The pods stop waiting for the pod that does not exist, and no cleanup Job can be created any more.
		v1alpha1.StageCollecting: {left: true},
	}}}
}

// deleteItsNamespace returns when the namespace is gone: the run's finalizer must not block it.
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
		return fmt.Errorf("the namespace still exists (%w): %+v", err, ns.Status)
	})
}
