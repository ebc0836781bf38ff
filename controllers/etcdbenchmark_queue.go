package controllers

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// addressIndex finds the runs in a queue by what lifecycle.Addresses returns.
const addressIndex = "etcdbench.dev/addresses"

// addressesOf are the keys of a run in addressIndex.
func addressesOf(o client.Object) []string {
	run, ok := o.(*v1alpha1.EtcdBenchmark)
	if !ok || !lifecycle.InQueue(run) {
		return nil
	}
	return lifecycle.Addresses(run)
}

// observePlace looks for runs in front, in the cache.
func (r *EtcdBenchmarkReconciler) observePlace(ctx context.Context, o *lifecycle.Observed) error {
	if !lifecycle.AwaitsPlace(o.Run) {
		return nil
	}
	others, err := r.runsAt(ctx, lifecycle.Addresses(o.Run)...)
	o.Place = lifecycle.PlaceOf(o.Run, others, r.Clock.Now())
	return err
}

// runsAt returns the runs in the queues of these addresses, each once. They must not be changed: they are those of the
// cache.
func (r *EtcdBenchmarkReconciler) runsAt(ctx context.Context, addresses ...string) (runs []*v1alpha1.EtcdBenchmark, err error) {
	seen := map[client.ObjectKey]bool{}
	for _, address := range addresses {
		list := &v1alpha1.EtcdBenchmarkList{}
		if err := r.Client.List(ctx, list, client.MatchingFields{addressIndex: address}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		for i := range list.Items {
			if key := client.ObjectKeyFromObject(&list.Items[i]); !seen[key] {
				seen[key] = true
				runs = append(runs, &list.Items[i])
			}
		}
	}
	return runs, nil
}

// nextRuns triggers the next run of each address, and of the namespace, when a run finishes or leaves their queues, so that
// it starts at once.
func (r *EtcdBenchmarkReconciler) nextRuns() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if addressesOf(e.ObjectOld) != nil && (addressesOf(e.ObjectNew) == nil || hasFinished(e)) {
				r.triggerNext(ctx, e.ObjectOld, q)
			}
			if activeOf(e.ObjectOld) != nil && activeOf(e.ObjectNew) == nil || waitedForLimit(e) {
				r.triggerNextOfNamespace(ctx, e.ObjectOld, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			r.triggerNext(ctx, e.Object, q)
			r.triggerNextOfNamespace(ctx, e.Object, q)
		},
	}
}

// hasFinished reports whether a run has finished now. If it has left keys, it stays in the queue for a limited time, and the
// next run must learn for how long.
func hasFinished(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.EtcdBenchmark)
	after, ok2 := e.ObjectNew.(*v1alpha1.EtcdBenchmark)
	return ok1 && ok2 && !before.HasFinished() && after.HasFinished()
}

// waitedForLimit reports whether a run waits for the limit of its namespace no longer. There may be room for the next one,
// too: if two runs end at once, both trigger the same run.
func waitedForLimit(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.EtcdBenchmark)
	after, ok2 := e.ObjectNew.(*v1alpha1.EtcdBenchmark)
	return ok1 && ok2 && lifecycle.WaitsForLimit(before) && !lifecycle.WaitsForLimit(after)
}

// triggerNextOfNamespace triggers the oldest run that waits for the limit of this namespace.
func (r *EtcdBenchmarkReconciler) triggerNextOfNamespace(ctx context.Context, left client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if r.Caps.RunsPerNamespace == 0 {
		return
	}
	active, err := r.activeRuns(ctx, left.GetNamespace())
	if err != nil {
		log.FromContext(ctx).Error(err, "Could not list the runs of a namespace; each of them checks by itself")
		return
	}
	runs := make([]*v1alpha1.EtcdBenchmark, len(active))
	for i := range active {
		runs[i] = &active[i]
	}
	if next := lifecycle.FirstForLimit(runs); next != nil {
		q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(next)})
	}
}

func (r *EtcdBenchmarkReconciler) triggerNext(ctx context.Context, left client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	for _, address := range addressesOf(left) {
		waiting, err := r.runsAt(ctx, address)
		if err != nil {
			log.FromContext(ctx).Error(err, "Could not list the waiting runs; each of them checks by itself")
			return
		}
		if next := lifecycle.FirstWaiting(waiting); next != nil {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(next)})
		}
	}
}
