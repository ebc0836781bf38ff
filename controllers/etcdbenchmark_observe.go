package controllers

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// observe does all reads of one reconcile. It reads from the cache, except for the target, events, and cases in which
// the cache may be older than status.
func (r *EtcdBenchmarkReconciler) observe(ctx context.Context, run *v1alpha1.EtcdBenchmark) (lifecycle.Observed, error) {
	o := lifecycle.Observed{Run: run}
	for _, read := range []func(context.Context, *lifecycle.Observed) error{
		r.observeTarget, r.observeNames, r.observePlace, r.observeCaps, r.observeMembers, r.observeJob, r.observePods, r.observeLoss, r.observeRefusal, r.observeCleanup,
		r.observeKubelets, r.observeTimes,
	} {
		if err := read(ctx, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// observeTimes says since when the operator knows the states of the run. It comes last, so that a cleanup Job that is seen
// together with the run's deletion is older.
func (r *EtcdBenchmarkReconciler) observeTimes(_ context.Context, o *lifecycle.Observed) error {
	seen := func(is bool, what string) (at time.Time) {
		if is {
			at = r.seen(o.Run, what)
		}
		return at
	}
	o.Seen = lifecycle.Seen{
		Run: seen(true, "run"), Ending: seen(o.Run.Status.Ending != nil, "ending"), End: seen(o.Run.HasFinished(), "end"),
		Deletion: seen(!o.Run.DeletionTimestamp.IsZero(), "deletion"),
	}
	return nil
}

// seen returns when this process first saw something about a run.
func (r *EtcdBenchmarkReconciler) seen(run *v1alpha1.EtcdBenchmark, what string) time.Time {
	return r.sightings.since(run, what, r.Clock.Now())
}

// observeJob treats the Job as gone only if the API server confirms it. A Job that is being deleted also counts as
// gone, because it creates no pods.
func (r *EtcdBenchmarkReconciler) observeJob(ctx context.Context, o *lifecycle.Observed) error {
	job := &batchv1.Job{}
	key := client.ObjectKey{Namespace: o.Run.Namespace, Name: o.Run.LoadJobName()}
	err := r.Client.Get(ctx, key, job)
	if apierrors.IsNotFound(err) && o.Run.Status.Job != nil && o.Run.Status.CompletionTime == nil {
		err = r.APIReader.Get(ctx, key, job)
	}
	if err == nil && job.DeletionTimestamp.IsZero() && metav1.IsControlledBy(job, o.Run) {
		o.Job = lifecycle.Job{Exists: true, UID: job.UID, Seen: r.seen(o.Run, "job "+string(job.UID))}
	}
	return client.IgnoreNotFound(err)
}

// observeLoss checks the Job again if a pod was ended. The deletion of the Job may be the cause, and that is the better
// message. One look for each pod is enough: a Job that is deleted later did not end it.
func (r *EtcdBenchmarkReconciler) observeLoss(ctx context.Context, o *lifecycle.Observed) error {
	if !o.Job.Exists || o.Run.Status.CompletionTime != nil || !r.hasNew(o, podLoss, lifecycle.Pod.WasCutOff) {
		return nil
	}
	job := &batchv1.Job{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: o.Run.Namespace, Name: o.Run.LoadJobName()}, job)
	switch {
	case apierrors.IsNotFound(err), err == nil && !job.DeletionTimestamp.IsZero():
		o.Job = lifecycle.Job{}
	case err == nil:
		r.confirmOf(o, podLoss, lifecycle.Pod.WasCutOff)
	}
	return client.IgnoreNotFound(err)
}

// What the API server has confirmed of a pod, by its name: names of pods are not used again.
const (
	podLoss   = "loss of "
	absenceOf = "absence of "
)

func isGone(p lifecycle.Pod) bool { return p.State == lifecycle.PodGone }

// hasNew reports whether this holds for a pod for which it is not confirmed.
func (r *EtcdBenchmarkReconciler) hasNew(o *lifecycle.Observed, what string, holds func(lifecycle.Pod) bool) bool {
	return slices.ContainsFunc(o.Pods, func(p lifecycle.Pod) bool { return holds(p) && !r.sightings.has(o.Run, what+p.Name) })
}

// confirmOf records it for each pod for which it holds.
func (r *EtcdBenchmarkReconciler) confirmOf(o *lifecycle.Observed, what string, holds func(lifecycle.Pod) bool) {
	for _, p := range o.Pods {
		if holds(p) {
			r.seen(o.Run, what+p.Name)
		}
	}
}

// observePods reads from the API server if the cache lacks a pod that status knows, or if the start might be chosen
// again.
func (r *EtcdBenchmarkReconciler) observePods(ctx context.Context, o *lifecycle.Observed) error {
	if err := r.assignPods(ctx, o); err != nil {
		return err
	}
	if o.Run.Status.CompletionTime != nil || !r.cacheMayLag(o) {
		return nil
	}
	o.PodsLive = true
	err := r.assignPods(ctx, o)
	if err == nil {
		r.confirmOf(o, absenceOf, isGone)
	}
	return err
}

func (r *EtcdBenchmarkReconciler) cacheMayLag(o *lifecycle.Observed) bool {
	if r.hasNew(o, absenceOf, isGone) {
		return true
	}
	started := slices.ContainsFunc(o.Pods, func(p lifecycle.Pod) bool { return p.StartAt != "" })
	at := o.Run.Status.StartAt
	return at != nil && !started && !r.Clock.Now().Before(at.Time)
}

// runIndex finds the pods of a run in the cache: its namespace can have the pods of many runs.
const runIndex = "etcdbench.dev/run"

// runOfLabel are the keys of a pod in runIndex.
func runOfLabel(o client.Object) []string {
	if uid := o.GetLabels()[v1alpha1.LabelRunUID]; uid != "" {
		return []string{uid}
	}
	return nil
}

// listPods returns pods that must not be changed: those from the cache belong to it.
func (r *EtcdBenchmarkReconciler) listPods(ctx context.Context, run *v1alpha1.EtcdBenchmark, live bool) (*corev1.PodList, error) {
	list := &corev1.PodList{}
	if !live {
		return list, r.Client.List(ctx, list, client.InNamespace(run.Namespace), client.MatchingFields{runIndex: string(run.UID)}, client.UnsafeDisableDeepCopy)
	}
	return list, r.APIReader.List(ctx, list, client.InNamespace(run.Namespace), client.MatchingLabels{
		v1alpha1.LabelManagedBy: v1alpha1.ManagedBy,
		v1alpha1.LabelRunUID:    string(run.UID),
	})
}

func (r *EtcdBenchmarkReconciler) assignPods(ctx context.Context, o *lifecycle.Observed) error {
	list, err := r.listPods(ctx, o.Run, o.PodsLive)
	if err != nil {
		return err
	}
	var found []lifecycle.Pod
	objects := map[string]*corev1.Pod{}
	for i := range list.Items {
		if p := &list.Items[i]; isOf(p, loadJobUID(o)) {
			seen := func(what string) time.Time { return r.seen(o.Run, what+" of "+string(p.UID)) }
			found = append(found, lifecycle.NewPod(p, seen))
			objects[p.Name] = p
		}
	}
	o.Pods, o.ExtraPods = lifecycle.AssignPods(o.Run, found)
	known := podResults{run: o.Run, objects: objects, scraped: r.Collector.Results(o.Run.UID)}
	now := r.Clock.Now()
	for i := range o.Pods {
		known.addTo(&o.Pods[i], now)
	}
	for i := range o.ExtraPods {
		known.addTo(&o.ExtraPods[i], now)
		// The numbers of these pods are not used, and there may be any number of such pods.
		o.ExtraPods[i].Final = withoutNumbers(o.ExtraPods[i].Final)
	}
	return nil
}

// loadJobUID prefers the UID in status: the Job may be gone while its pods are still alive.
func loadJobUID(o *lifecycle.Observed) types.UID {
	if o.Run.Status.Job != nil {
		return o.Run.Status.Job.UID
	}
	return o.Job.UID
}

func isOf(p *corev1.Pod, job types.UID) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && job != "" && owner.UID == job
}

// refusalAfter is when pods that are still missing may have been refused. Before that, the Job controller is about to
// create them, and each look would make the API server go through all events of the namespace.
const refusalAfter = 3 * time.Second

// observeRefusal looks for pods that the Job controller could not create. They exist only as an event on the Job.
func (r *EtcdBenchmarkReconciler) observeRefusal(ctx context.Context, o *lifecycle.Observed) error {
	if !o.Job.Exists || o.Run.Status.StartAt != nil || o.Run.Status.CompletionTime != nil || !lacksPods(o.Pods) {
		return nil
	}
	if r.Clock.Now().Before(o.Job.Seen.Add(refusalAfter)) {
		return nil
	}
	refused, err := r.newestEvent(ctx, o.Run.Namespace, o.Job.UID, "FailedCreate")
	if refused != "" {
		o.Job.Refused, o.Job.RefusalSeen = refused, r.seen(o.Run, "refusal of "+string(o.Job.UID))
	}
	return err
}

func lacksPods(pods []lifecycle.Pod) bool {
	return slices.ContainsFunc(pods, func(p lifecycle.Pod) bool { return p.State == lifecycle.PodMissing })
}

// observeCleanup reads the Job that status names. Any other Job is not the operator's, whatever its name and labels.
func (r *EtcdBenchmarkReconciler) observeCleanup(ctx context.Context, o *lifecycle.Observed) error {
	known := o.Run.Status.CleanupJob
	if known == nil || known.UID == "" {
		return nil
	}
	job, key := &batchv1.Job{}, client.ObjectKey{Namespace: o.Run.Namespace, Name: known.Name}
	err := r.Client.Get(ctx, key, job)
	if apierrors.IsNotFound(err) {
		// The cache may not have it yet.
		err = r.APIReader.Get(ctx, key, job)
	}
	if err != nil || job.UID != known.UID {
		return client.IgnoreNotFound(err)
	}
	o.Cleanup = lifecycle.Cleanup{
		Exists:    true,
		Deleting:  !job.DeletionTimestamp.IsZero(),
		Seen:      r.seen(o.Run, "job "+string(job.UID)),
		Succeeded: job.Status.Succeeded > 0,
		Failed:    failureOf(job),
	}
	if o.Cleanup.Failed != "" {
		explainCleanup(ctx, r.APIReader, job, &o.Cleanup)
	}
	return nil
}

// maxCleanupMessage leaves room in an event for the command that deletes the keys.
const maxCleanupMessage = 500

// explainCleanup adds to the failure of a cleanup Job what its last pod reported. It is best effort: the run does not wait
// for the message. It reads from the API server, because the cache may see the Job's end before the pod's end.
func explainCleanup(ctx context.Context, live client.Reader, job *batchv1.Job, c *lifecycle.Cleanup) {
	list := &corev1.PodList{}
	ours := client.MatchingLabels{v1alpha1.LabelRunUID: job.Labels[v1alpha1.LabelRunUID], v1alpha1.LabelComponent: v1alpha1.ComponentCleanup}
	if err := live.List(ctx, list, client.InNamespace(job.Namespace), ours); err != nil {
		log.FromContext(ctx).Error(err, "Reading why the cleanup Job failed")
		return
	}
	var last *corev1.Pod
	for i := range list.Items {
		p := &list.Items[i]
		hasMessage := isOf(p, job.UID) && lifecycle.TerminationMessage(p) != nil
		if hasMessage && (last == nil || last.CreationTimestamp.Before(&p.CreationTimestamp)) {
			last = p
		}
	}
	if last == nil {
		return
	}
	reason, reported, _ := strings.Cut(string(lifecycle.TerminationMessage(last)), ": ")
	c.StillWrites = reason == string(results.FailurePodStillWrites)
	c.Spared = reason == string(results.FailurePrefixNotEmpty)
	if !c.StillWrites && !c.Spared {
		reported = c.Failed + "; " + string(lifecycle.TerminationMessage(last))
	}
	c.Failed = text.Shorten(reported, maxCleanupMessage)
}

func failureOf(job *batchv1.Job) string {
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return cmp.Or(c.Message, c.Reason, "no reason given")
		}
	}
	return ""
}
