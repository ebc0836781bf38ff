package controllers

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// runAndPod is an active run with one pod in its status, and a pod with the labels of the run's pods and a final
// result.
func runAndPod() (*v1alpha1.EtcdBenchmark, *corev1.Pod) {
	run := newRun("ns", "run")
	run.UID = "0123456789ab"
	run.Status.Job = &v1alpha1.JobReference{Name: "job", UID: "job-uid"}
	run.Status.Pods = []v1alpha1.PodStatus{{Index: 1, Name: "pod"}}
	reported := &results.Snapshot{RunUID: string(run.UID), Index: 1, Transport: spec.TransportClient, Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted}
	measured(reported)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "pod",
		Labels:          map[string]string{v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelRunName: run.Name},
		Annotations:     map[string]string{"batch.kubernetes.io/job-completion-index": "1"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "job", UID: "job-uid", Controller: new(true)}},
	}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Message: string(wire.TerminationMessage(reported))},
	}}}
	return run, pod
}

// TestOnlyTheRunsPodsAreAccepted: other users can create pods, but these must not be able to report for a client pod or
// to fill the operator's memory.
func TestOnlyTheRunsPodsAreAccepted(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"the run's own":           {func(*corev1.Pod) {}, true},
		"of another namespace":    {func(p *corev1.Pod) { p.Namespace = "elsewhere" }, false},
		"of no Job":               {func(p *corev1.Pod) { p.OwnerReferences = nil }, false},
		"of another Job":          {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }, false},
		"owned, not controlled":   {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, false},
		"with an unknown name":    {func(p *corev1.Pod) { p.Name = "other" }, false},
		"with another's index":    {func(p *corev1.Pod) { p.Annotations["batch.kubernetes.io/job-completion-index"] = "0" }, false},
		"with another run's name": {func(p *corev1.Pod) { p.Labels[v1alpha1.LabelRunName] = "other" }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run, pod := runAndPod()
			tc.change(pod)
			got := observePod(t, run, pod)
			if (got[pod.Name].Message != nil) != tc.want || !tc.want && len(got) > 0 {
				t.Errorf("wanted the pod to be accepted: %v, found %+v", tc.want, got)
			}
		})
	}
}

// observePod passes the pod to an operator that watches the run.
func observePod(t *testing.T, run *v1alpha1.EtcdBenchmark, pod *corev1.Pod) map[string]collector.Result {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	r := &EtcdBenchmarkReconciler{
		Client:    fake.NewClientBuilder().WithScheme(scheme).WithObjects(run).Build(),
		Collector: collector.New(nil),
	}
	r.Collector.Watch(run.UID, client.ObjectKeyFromObject(run), nil, collector.Phase{})
	want := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[v1alpha1.LabelRunName]}
	if got := r.runOfPod(t.Context(), pod); len(got) != 1 || got[0].NamespacedName != want {
		t.Errorf("wanted %s to be reconciled, found %v", want, got)
	}
	return r.Collector.Results(run.UID)
}

// delays is a queue that remembers when its items are due.
type delays struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	found []time.Duration
}

func (d *delays) AddAfter(_ reconcile.Request, after time.Duration) { d.found = append(d.found, after) }

// TestManyPodsTriggerTheirRunTogether: a reconcile of a run with 1,000 pods goes through all of them.
func TestManyPodsTriggerTheirRunTogether(t *testing.T) {
	for pods, want := range map[int]time.Duration{0: 0, 1: time.Millisecond, 1000: time.Second} {
		run, pod := runAndPod()
		r := &EtcdBenchmarkReconciler{Collector: collector.New(nil)}
		var scraped []collector.Pod
		for i := range pods {
			scraped = append(scraped, collector.Pod{Name: strconv.Itoa(i), Index: i})
		}
		r.Collector.Watch(run.UID, client.ObjectKeyFromObject(run), scraped, collector.Phase{})
		pod.Status = corev1.PodStatus{}
		q, h := &delays{}, r.newsOfPod()
		h.Create(t.Context(), event.CreateEvent{Object: pod}, q)
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: pod, ObjectNew: pod}, q)
		h.Delete(t.Context(), event.DeleteEvent{Object: pod}, q)
		// Somebody removes the label: the run must learn that the pod is no longer its own.
		without := pod.DeepCopy()
		delete(without.Labels, v1alpha1.LabelRunName)
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: pod, ObjectNew: without}, q)
		if !slices.Equal(q.found, []time.Duration{want, want, want, want}) {
			t.Errorf("%d pods: wanted their run to be reconciled after %s for each of 4 events, found %v", pods, want, q.found)
		}
	}
}

// TestProgressNeedsNoReconcile: the operator writes progress every few seconds, and must not handle each write again.
func TestProgressNeedsNoReconcile(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha1.EtcdBenchmark)
		want   bool
	}{
		"progress":      {func(r *v1alpha1.EtcdBenchmark) { r.Status.Progress = &v1alpha1.Progress{} }, false},
		"pods":          {func(r *v1alpha1.EtcdBenchmark) { r.Status.Pods = nil }, false},
		"a stop":        {func(r *v1alpha1.EtcdBenchmark) { r.Spec.Stop = true }, true},
		"a deletion":    {func(r *v1alpha1.EtcdBenchmark) { r.DeletionTimestamp = &metav1.Time{} }, true},
		"an annotation": {func(r *v1alpha1.EtcdBenchmark) { r.Annotations = map[string]string{"a": "b"} }, true},
		"an ending":     {func(r *v1alpha1.EtcdBenchmark) { r.Status.Ending = &v1alpha1.Ending{} }, true},
		"the end":       {func(r *v1alpha1.EtcdBenchmark) { r.Status.CompletionTime = &metav1.Time{} }, true},
		"a stage": {func(r *v1alpha1.EtcdBenchmark) {
			r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Reason: v1alpha1.StageRunning}}
		}, true},
		"no start yet": {func(r *v1alpha1.EtcdBenchmark) { r.Status.StartAt = nil }, true},
		"a resync":     {func(r *v1alpha1.EtcdBenchmark) { r.ResourceVersion = "1" }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, _ := runAndPod()
			before.ResourceVersion, before.Status.StartAt = "1", &metav1.MicroTime{}
			after := before.DeepCopy()
			after.ResourceVersion = "2"
			tc.change(after)
			if got := needsReconcile(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != tc.want {
				t.Errorf("wanted a reconcile: %v, found %v", tc.want, got)
			}
		})
	}
}

// The cache has the results of a run until the run has ended and left nothing; then it has what queues and pods need.
func TestWhatTheCacheHasOfARun(t *testing.T) {
	for name, tc := range map[string]struct {
		finished, cleaned metav1.ConditionStatus
		wantResults       bool
	}{
		"loads":             {metav1.ConditionFalse, "", true},
		"deletes its keys":  {metav1.ConditionTrue, metav1.ConditionFalse, true},
		"has left nothing":  {metav1.ConditionTrue, metav1.ConditionTrue, false},
		"cleans, not ended": {metav1.ConditionFalse, metav1.ConditionTrue, true},
	} {
		run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{
			Annotations:   map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "team": "a"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		}}
		run.Status.Summary = &v1alpha1.Summary{Operations: []v1alpha1.OperationSummary{{Succeeded: 7, ServiceTime: &v1alpha1.LatencySummary{}}}}
		run.Status.Target = &v1alpha1.TargetStatus{Endpoints: []string{"http://a:2379"}, Members: []v1alpha1.MemberStatus{{Name: "a"}}}
		run.Status.Pods = []v1alpha1.PodStatus{{Index: 1, Name: "pod", KeysDeleted: true, Node: "node", LastResult: "result"}}
		for kind, status := range map[string]metav1.ConditionStatus{v1alpha1.ConditionFinished: tc.finished, v1alpha1.ConditionCleaned: tc.cleaned} {
			if status != "" {
				meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: "Any"})
			}
		}
		got, err := slim(run)
		if err != nil || got != any(run) {
			t.Fatalf("%s: got %v, %v", name, got, err)
		}
		if len(run.Annotations) != 1 || run.ManagedFields != nil {
			t.Errorf("%s: the cache has the annotations %v and managed fields %v", name, run.Annotations, run.ManagedFields)
		}
		s, pod := run.Status, run.Status.Pods[0]
		if has := s.Summary.Operations[0].ServiceTime != nil && len(s.Target.Members) == 1 && pod.LastResult != ""; has != tc.wantResults {
			t.Errorf("%s: the cache has the results: %t, wanted %t", name, has, tc.wantResults)
		}
		if s.Summary.Operations[0].Succeeded != 7 || len(s.Target.Endpoints) != 1 || pod.Name != "pod" || pod.Index != 1 || !pod.KeysDeleted || len(s.Conditions) == 0 {
			t.Errorf("%s: the cache has only %+v", name, s)
		}
	}
}

// A cached pod is smaller and gives the same lifecycle.Pod. A cached Job keeps its metadata and its status.
func TestWhatTheCacheHasOfPodsAndJobs(t *testing.T) {
	_, pod := runAndPod()
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	pod.Spec = corev1.PodSpec{
		NodeName:   "node",
		Containers: []corev1.Container{{Name: "loadgen", Image: "image", Args: []string{strings.Repeat("a", 1000)}}},
		Volumes:    []corev1.Volume{{Name: strings.Repeat("v", 1000)}},
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, OwnerReferences: pod.OwnerReferences},
		Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod.Spec}},
		Status:     batchv1.JobStatus{Succeeded: 1},
	}
	for name, status := range map[string]corev1.PodStatus{
		"ended": pod.Status,
		"stuck": {ContainerStatuses: []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}},
	} {
		pod.Status = status
		seen := func(string) time.Time { return pod.CreationTimestamp.Time }
		want := lifecycle.NewPod(pod, seen)
		cached := slimmed(t, pod.DeepCopy())
		if got := lifecycle.NewPod(cached, seen); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: found the pod %+v, wanted %+v", name, got, want)
		}
		if cached.ManagedFields != nil || cached.Size() > pod.Size()-2000 {
			t.Errorf("%s: the cache has %d of the pod's %d bytes", name, cached.Size(), pod.Size())
		}
	}
	got := slimmed(t, job.DeepCopy())
	if got.Size() > job.Size()-2000 || !reflect.DeepEqual(got.Status, job.Status) || !reflect.DeepEqual(got.ObjectMeta, job.ObjectMeta) {
		t.Errorf("the cache has the Job %+v", got)
	}
}

// slimmed is the object as the cache has it.
func slimmed[T client.Object](t *testing.T, object T) T {
	t.Helper()
	got, err := slim(object)
	if err != nil {
		t.Fatal(err)
	}
	return got.(T)
}
