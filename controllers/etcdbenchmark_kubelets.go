package controllers

import (
	"cmp"
	"context"
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/kubelet"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// noPods is why a run of addresses has no figures of kubelets.
const noPods = "the target is a list of addresses, and not pods or a Service"

// observeKubelets reads the kubelets of the members' nodes at the start and after the end of the window. Members that the
// run starts have samplers.
func (r *EtcdBenchmarkReconciler) observeKubelets(ctx context.Context, o *lifecycle.Observed) error {
	run, target := o.Run, o.Run.Spec.Target
	if r.Kubelets == nil || run.Status.StartAt == nil || run.Status.CompletionTime != nil || target.IsOwn() {
		return nil
	}
	load := run.Resolved().Load
	switch planned := load.Duration(); {
	case target.Service == nil && target.Pods == nil:
		o.Kubelets.Unknown = noPods
	case planned > 0 && planned < kubelet.LeastWindow:
		o.Kubelets.Unknown = kubelet.TooShort(planned)
	}
	if o.Kubelets.Unknown != "" {
		return nil
	}
	key, from := client.ObjectKeyFromObject(run), run.Status.StartAt.Add(load.Warmup())
	if !r.Kubelets.Has(key, run.UID, from) {
		pods, err := r.memberPods(ctx, run)
		if err != nil {
			// The run does not depend on these figures. The next reconcile tries again.
			log.FromContext(ctx).Error(err, "Finding the members' pods")
			o.Kubelets.Unknown = text.Shorten("the members' pods could not be found: "+err.Error(), v1alpha1.MaxMessageLength)
			return nil
		}
		r.Kubelets.Begin(key, run.UID, from, from.Sub(r.Clock.Now()), pods)
	}
	o.Kubelets.Pending = true
	if w, measured := windowOf(o.Pods); measured {
		o.Kubelets.Members = r.Kubelets.End(key, w)
		o.Kubelets.Pending = o.Kubelets.Members == nil
	}
	return nil
}

// windowOf returns the time in which any client pod has measured, if all have.
func windowOf(pods []lifecycle.Pod) (w kubelet.Window, measured bool) {
	for _, p := range pods {
		if !p.HasWholeResult() {
			return w, false
		}
		own := p.Newest().Window
		if w.Start.IsZero() || own.Start.Before(w.Start) {
			w.Start = own.Start
		}
		if own.End.After(w.End) {
			w.End = own.End
		}
	}
	return w, true
}

// memberPods returns the pods behind the addresses of a run.
func (r *EtcdBenchmarkReconciler) memberPods(ctx context.Context, run *v1alpha1.EtcdBenchmark) ([]kubelet.Pod, error) {
	selector, err := r.memberSelector(ctx, run)
	if err != nil {
		return nil, err
	}
	list := &corev1.PodList{}
	if err := r.APIReader.List(ctx, list, client.InNamespace(run.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, err
	}
	of := map[string]*corev1.Pod{}
	for i := range list.Items {
		p := &list.Items[i]
		of[cmp.Or(podHost(p), p.Status.PodIP)], of[p.Status.PodIP] = p, p
	}
	var pods []kubelet.Pod
	for _, endpoint := range run.Status.Target.Endpoints {
		host, _, err := net.SplitHostPort(endpoint)
		if p := of[host]; err == nil && p != nil && p.Status.HostIP != "" {
			pods = append(pods, kubelet.Pod{Endpoint: endpoint, Namespace: p.Namespace, Name: p.Name, Host: p.Status.HostIP, HostNetwork: p.Spec.HostNetwork})
		}
	}
	return pods, nil
}

// memberSelector selects the pods of the target; nothing for a Service without a selector.
func (r *EtcdBenchmarkReconciler) memberSelector(ctx context.Context, run *v1alpha1.EtcdBenchmark) (labels.Selector, error) {
	if pods := run.Spec.Target.Pods; pods != nil {
		return metav1.LabelSelectorAsSelector(&pods.Selector)
	}
	service := &corev1.Service{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Target.Service.Name}, service)
	if err != nil || len(service.Spec.Selector) == 0 {
		return labels.Nothing(), err
	}
	return labels.SelectorFromSet(service.Spec.Selector), nil
}
