package controllers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// DefaultWorkers is how many runs are reconciled at a time if the options do not say. A reconcile mostly waits for the API
// server: with 4, the ends of 100 runs took 9.0 s instead of 4.4 s.
const DefaultWorkers = 16

const (
	// firstRetry and lastRetry bound the pause after an error. lastRetry is far below a minute, because a failure must
	// be reported within a minute.
	firstRetry = 50 * time.Millisecond
	lastRetry  = 15 * time.Second
)

// Kinds are the objects that the cache holds.
func Kinds() []client.Object {
	return []client.Object{
		&v1alpha1.EtcdBenchmark{}, &v1alpha1.EtcdBenchmarkSuite{}, &v1alpha1.EtcdBenchmarkSchedule{}, &corev1.Pod{}, &batchv1.Job{},
	}
}

// CacheOptions restricts the cache to the objects of runs; otherwise the operator would hold every pod of the cluster.
// No namespaces means all.
func CacheOptions(namespaces []string) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy})}
	options := cache.Options{
		ByObject:         map[client.Object]cache.ByObject{&corev1.Pod{}: ours, &batchv1.Job{}: ours},
		DefaultTransform: slim,
	}
	for _, n := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[n] = cache.Config{}
	}
	return options
}

// slim removes from a cached object what the operator does not read. There can be thousands of objects.
func slim(object any) (any, error) {
	object, err := cache.TransformStripManagedFields()(object)
	switch o := object.(type) {
	case *v1alpha1.EtcdBenchmark:
		slimRun(o)
	case *corev1.Pod:
		slimPod(o)
	case *batchv1.Job:
		o.Spec = batchv1.JobSpec{}
	}
	return object, err
}

// slimRun removes the last applied manifest. If the run has ended and left nothing in the store, it also removes the results,
// which are most of the object, except those that metrics show. A suite reads the results of its run from the API server.
func slimRun(run *v1alpha1.EtcdBenchmark) {
	delete(run.Annotations, corev1.LastAppliedConfigAnnotation)
	s := &run.Status
	if !run.HasFinished() || !meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionCleaned) {
		return
	}
	s.Progress, s.RequestCounts, s.Objectives, s.Guard, s.Display = nil, nil, nil, nil, nil
	s.Summary = slimSummary(run)
	if s.Target != nil {
		s.Target.Members = nil
	}
	for i, p := range s.Pods {
		s.Pods[i] = v1alpha1.PodStatus{Index: p.Index, Name: p.Name, KeysDeleted: p.KeysDeleted}
	}
}

// slimPod keeps of the pod's spec only the node, and the names and images of the containers.
func slimPod(pod *corev1.Pod) {
	spec := corev1.PodSpec{NodeName: pod.Spec.NodeName}
	for _, c := range pod.Spec.Containers {
		spec.Containers = append(spec.Containers, corev1.Container{Name: c.Name, Image: c.Image})
	}
	pod.Spec = spec
}

// SetupWithManager registers the reconciler and its collector with the manager.
func (r *EtcdBenchmarkReconciler) SetupWithManager(m ctrl.Manager, options controller.Options) error {
	if err := m.Add(r.Collector); err != nil {
		return err
	}
	if err := r.addIndexes(m.GetFieldIndexer()); err != nil {
		return err
	}
	options.MaxConcurrentReconciles = cmp.Or(options.MaxConcurrentReconciles, DefaultWorkers)
	options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)
	return ctrl.NewControllerManagedBy(m).
		Named("etcdbenchmark").
		For(&v1alpha1.EtcdBenchmark{}, builder.WithPredicates(predicate.Funcs{UpdateFunc: needsReconcile})).
		Watches(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(runOf)).
		Watches(&v1alpha1.EtcdBenchmark{}, r.nextRuns()).
		Watches(&corev1.Pod{}, r.newsOfPod()).
		WatchesRawSource(source.Channel(r.Collector.Events(), &handler.EnqueueRequestForObject{})).
		WithOptions(options).
		Complete(r)
}

func (r *EtcdBenchmarkReconciler) addIndexes(to client.FieldIndexer) error {
	return errors.Join(
		to.IndexField(context.Background(), &v1alpha1.EtcdBenchmark{}, addressIndex, addressesOf),
		to.IndexField(context.Background(), &v1alpha1.EtcdBenchmark{}, activeIndex, activeOf),
		to.IndexField(context.Background(), &corev1.Pod{}, runIndex, runOfLabel),
	)
}

// needsReconcile leaves out the operator's own writes of the progress of a run that loads: they change no decision.
func needsReconcile(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.EtcdBenchmark)
	after, ok2 := e.ObjectNew.(*v1alpha1.EtcdBenchmark)
	if !ok1 || !ok2 || before.ResourceVersion == after.ResourceVersion || before.Status.StartAt == nil || after.Status.CompletionTime != nil {
		return true
	}
	return !equality.Semantic.DeepEqual(withoutProgress(before), withoutProgress(after))
}

// withoutProgress returns a shallow copy without what a write of progress changes.
func withoutProgress(run *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	out := *run
	out.ResourceVersion, out.ManagedFields = "", nil
	out.Status.Progress, out.Status.Pods, out.Status.Display = nil, nil, nil
	return &out
}

// runOf uses the label, because the cleanup Job has no owner.
func runOf(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[v1alpha1.LabelRunName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}

// newsOfPod triggers the run of a pod. The more pods a run has, the more of their events trigger it together.
func (r *EtcdBenchmarkReconciler) newsOfPod() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	trigger := func(ctx context.Context, o client.Object, q queue) {
		for _, request := range r.runOfPod(ctx, o) {
			q.AddAfter(request, r.Collector.Pause(types.UID(o.GetLabels()[v1alpha1.LabelRunUID])))
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { trigger(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if e.ObjectOld.GetLabels()[v1alpha1.LabelRunName] != e.ObjectNew.GetLabels()[v1alpha1.LabelRunName] {
				trigger(ctx, e.ObjectOld, q)
			}
			trigger(ctx, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { trigger(ctx, e.Object, q) },
	}
}

// runOfPod also saves the pod's termination message: the pod may be gone before the run is reconciled.
func (r *EtcdBenchmarkReconciler) runOfPod(ctx context.Context, o client.Object) []reconcile.Request {
	requests := runOf(ctx, o)
	if pod, ok := o.(*corev1.Pod); ok {
		for _, request := range requests {
			r.keepTermination(ctx, request.NamespacedName, pod)
		}
	}
	return requests
}

// keepTermination accepts only pods that take part in the run. Other users can create pods with the run's labels and
// arbitrary messages, in any namespace.
func (r *EtcdBenchmarkReconciler) keepTermination(ctx context.Context, key types.NamespacedName, pod *corev1.Pod) {
	if lifecycle.TerminationMessage(pod) == nil {
		return
	}
	run := &v1alpha1.EtcdBenchmark{}
	// If the run cannot be read now, the reconcile reads the message from the pod.
	if err := r.Client.Get(ctx, key, run); err != nil || !takesPart(run, pod) {
		return
	}
	if left := terminationOf(run.UID, pod); left != nil {
		r.Collector.Keep(run.UID, pod.Name, left)
	}
}

// takesPart reports whether the run's load Job created the pod and status lists it.
func takesPart(run *v1alpha1.EtcdBenchmark, pod *corev1.Pod) bool {
	index := lifecycle.IndexOf(pod)
	holds := func(p v1alpha1.PodStatus) bool { return p.Name == pod.Name && int(p.Index) == index }
	return run.Status.Job != nil && isOf(pod, run.Status.Job.UID) && slices.ContainsFunc(run.Status.Pods, holds)
}
