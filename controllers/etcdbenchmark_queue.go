package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// observePlace looks for runs in front. If the cache shows one, the run keeps waiting. That no run is in front is read
// from the API server, not from the cache.
func (r *EtcdBenchmarkReconciler) observePlace(ctx context.Context, o *lifecycle.Observed) error {
	if !lifecycle.AwaitsTurn(o.Run) {
		return nil
	}
	for _, from := range []client.Reader{r.Client, r.APIReader} {
		all, err := r.allRuns(ctx, from)
		if err != nil {
			return err
		}
		if o.Place = lifecycle.PlaceOf(o.Run, all, r.Clock.Now()); o.Place.Behind != "" {
			return nil
		}
	}
	return nil
}

// allRuns returns the runs in the operator's namespaces.
func (r *EtcdBenchmarkReconciler) allRuns(ctx context.Context, from client.Reader) ([]v1alpha1.EtcdBenchmark, error) {
	namespaces := r.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var all []v1alpha1.EtcdBenchmark
	for _, namespace := range namespaces {
		list := &v1alpha1.EtcdBenchmarkList{}
		if err := from.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// runsBehind triggers the waiting runs when a run has finished, so that the next one starts at once.
func (r *EtcdBenchmarkReconciler) runsBehind(ctx context.Context, o client.Object) []reconcile.Request {
	run, ok := o.(*v1alpha1.EtcdBenchmark)
	if !ok || !meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		return nil
	}
	all, err := r.allRuns(ctx, r.Client)
	if err != nil {
		log.FromContext(ctx).Error(err, "Could not list the waiting runs; each of them checks by itself")
		return nil
	}
	var behind []reconcile.Request
	for i := range all {
		if lifecycle.AwaitsTurn(&all[i]) {
			behind = append(behind, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all[i])})
		}
	}
	return behind
}
