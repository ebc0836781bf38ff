package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// neverLabel selects nodes that do not exist.
	neverLabel = "scale.etcdbench.dev/never"
	// parallelWrites is how many requests the kubelet has in flight.
	parallelWrites = 16
)

// kubelet acts as the scheduler, and as the kubelet and the client pods of one node.
type kubelet struct {
	ctx  context.Context
	api  client.Client
	tape *tape
	room chan struct{}

	mu        sync.Mutex
	pods      map[types.UID]*pod
	windows   map[string]time.Duration
	scheduled int
	// problems are the first errors.
	problems []error
}

// startKubelet handles the pods of all load Jobs until ctx ends.
func startKubelet(ctx context.Context, api client.Client, from cache.Cache) (*kubelet, error) {
	t, err := record()
	if err != nil {
		return nil, err
	}
	k := &kubelet{
		ctx: ctx, api: api, tape: t, room: make(chan struct{}, parallelWrites),
		pods: map[types.UID]*pod{}, windows: map[string]time.Duration{},
	}
	informer, err := from.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return nil, err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.handle(o) },
		UpdateFunc: func(_, o any) { k.handle(o) },
		DeleteFunc: func(o any) { k.forget(o) },
	})
	return k, err
}

// loadFor sets how long the runs of a namespace load.
func (k *kubelet) loadFor(namespace string, window time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.windows[namespace] = window
}

// podsOf returns the pods of a namespace that are running.
func (k *kubelet) podsOf(namespace string) (pods []*pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.pods {
		if a.namespace == namespace {
			pods = append(pods, a)
		}
	}
	return pods
}

// firstProblem is the first error of the kubelet.
func (k *kubelet) firstProblem() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.problems) == 0 {
		return nil
	}
	return fmt.Errorf("acting as a kubelet: %w", k.problems[0])
}

func (k *kubelet) handle(o any) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	switch {
	case p.DeletionTimestamp != nil:
		k.write(func() error {
			return client.IgnoreNotFound(k.api.Delete(k.ctx, p.DeepCopy(), client.GracePeriodSeconds(0)))
		})
	case p.Spec.NodeSelector[neverLabel] != "":
		k.refuse(p)
	default:
		k.advance(k.known(p), p)
	}
}

// known returns the pod of an object, and makes it if it is new.
func (k *kubelet) known(p *corev1.Pod) *pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.pods[p.UID]
	if a == nil {
		n := k.scheduled
		k.scheduled++
		ip := fmt.Sprintf("127.%d.%d.%d", 10+n/(250*250), n/250%250, 1+n%250)
		a = newPod(p, ip, k.windows[p.Namespace], k.tape)
		k.pods[p.UID] = a
	}
	return a
}

// advance tells the API server what has happened to a pod since the last time.
func (k *kubelet) advance(a *pod, p *corev1.Pod) {
	now := time.Now()
	a.follow(p.Annotations, now)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.scheduled {
		a.scheduled = true
		k.write(func() error { return k.place(a, p) })
	}
	if !a.admitted.IsZero() && !a.ready {
		a.ready = true
		time.AfterFunc(time.Until(a.admitted.Add(claimFor)), func() {
			k.status(p, func(s *corev1.PodStatus) { running(s, a.ip, corev1.ConditionTrue) })
		})
	}
	if p.Annotations[plan.AnnotationCollected] == "true" && !a.ended {
		k.end(a, p, now)
	}
}

// end ends a pod that the operator has released, if it has done its load: the operator also releases pods that it cannot
// scrape. The caller holds the mutex.
func (k *kubelet) end(a *pod, p *corev1.Pod, now time.Time) {
	if a.stage(now) != results.StageDone {
		if !a.start.IsZero() {
			time.AfterFunc(a.done().Sub(now), func() { k.advance(a, p) })
		}
		return
	}
	a.ended = true
	a.close()
	k.status(p, func(s *corev1.PodStatus) { succeeded(s, a.ip, a.message) })
}

// place binds a pod to a node and starts it.
func (k *kubelet) place(a *pod, p *corev1.Pod) error {
	if err := a.serve(); err != nil {
		return err
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	if err := k.api.SubResource("binding").Create(k.ctx, p.DeepCopy(), binding); err != nil {
		return client.IgnoreNotFound(err)
	}
	return k.patch(p, func(s *corev1.PodStatus) { running(s, a.ip, corev1.ConditionFalse) })
}

// refuse marks a pod that fits on no node, once.
func (k *kubelet) refuse(p *corev1.Pod) {
	if len(p.Status.Conditions) > 0 {
		return
	}
	k.status(p, func(s *corev1.PodStatus) {
		s.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/1 nodes are available: 1 node(s) did not match the node selector.", LastTransitionTime: metav1.Now(),
		}}
	})
}

func (k *kubelet) status(p *corev1.Pod, change func(*corev1.PodStatus)) {
	k.write(func() error { return k.patch(p, change) })
}

// patch sends a pod's whole status, and has the API server answer with metadata alone, because many pods change at once.
func (k *kubelet) patch(p *corev1.Pod, change func(*corev1.PodStatus)) error {
	status := p.Status.DeepCopy()
	change(status)
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	answer := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}
	answer.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	return client.IgnoreNotFound(k.api.Status().Patch(k.ctx, answer, client.RawPatch(types.MergePatchType, body)))
}

// write sends a request when there is room for it.
func (k *kubelet) write(send func() error) {
	go func() {
		k.room <- struct{}{}
		defer func() { <-k.room }()
		if err := send(); err != nil && k.ctx.Err() == nil {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.problems = append(k.problems, err)
		}
	}()
}

func (k *kubelet) forget(o any) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if a := k.pods[p.UID]; a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.close()
		delete(k.pods, p.UID)
	}
}

func running(s *corev1.PodStatus, ip string, ready corev1.ConditionStatus) {
	s.Phase, s.PodIP, s.PodIPs = corev1.PodRunning, ip, []corev1.PodIP{{IP: ip}}
	s.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: ready}}
	s.ContainerStatuses = []corev1.ContainerStatus{{
		Name: lifecycle.ContainerName, Ready: ready == corev1.ConditionTrue,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
}

func succeeded(s *corev1.PodStatus, ip string, message func(time.Time) string) {
	s.Phase, s.PodIP, s.PodIPs = corev1.PodSucceeded, ip, []corev1.PodIP{{IP: ip}}
	s.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	s.ContainerStatuses = []corev1.ContainerStatus{{Name: lifecycle.ContainerName, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		Reason: "Completed", StartedAt: metav1.Now(), FinishedAt: metav1.Now(), Message: message(time.Now()),
	}}}}
}
