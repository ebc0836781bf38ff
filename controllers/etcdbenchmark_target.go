package controllers

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// maxEndpoints bounds the list in status; no etcd cluster has more members.
const maxEndpoints = 64

// observeTarget resolves the target's addresses until status holds them.
func (r *EtcdBenchmarkReconciler) observeTarget(ctx context.Context, o *lifecycle.Observed) error {
	if o.Run.Status.CompletionTime != nil || o.Run.Status.Target != nil && len(o.Run.Status.Target.Endpoints) > 0 {
		return nil
	}
	var err error
	switch t := o.Run.Spec.Target; {
	case t.Service != nil:
		o.Target, err = r.resolveService(ctx, o.Run)
	case t.Pods != nil:
		o.Target, err = r.resolvePods(ctx, o.Run)
	case t.Ephemeral != nil:
		o.Target.Endpoints = resources.MemberEndpoints(o.Run)
	default:
		o.Target.Endpoints = v1alpha1.HostPorts(t.Endpoints)
	}
	if i, n := o.Run.Spec.Target.MemberIndex, len(o.Target.Endpoints); i != nil && n > 0 && int(*i) >= n {
		o.Target.Missing = fmt.Sprintf("spec.target.memberIndex is %d, and the target has only the addresses %s. Create the run with an index from 0 to %d.",
			*i, strings.Join(o.Target.Endpoints, ", "), n-1)
		o.Target.Endpoints, o.Target.Nodes = nil, nil
	}
	if apierrors.IsForbidden(err) {
		o.Target, err = missing("The operator has no right to read the target's objects: %v.", err), nil
	}
	return err
}

func missing(format string, args ...any) lifecycle.Target {
	return lifecycle.Target{Missing: fmt.Sprintf(format, args...)}
}

func found(endpoints, nodes []string) lifecycle.Target {
	return lifecycle.Target{Endpoints: distinct(endpoints), Nodes: distinct(nodes)}
}

// distinct sorts, removes duplicates and empty strings, and keeps at most maxEndpoints.
func distinct(all []string) []string {
	slices.Sort(all)
	all = slices.Compact(slices.DeleteFunc(all, func(s string) bool { return s == "" }))
	return all[:min(len(all), maxEndpoints)]
}

// resolveService returns each member behind a Service: a connection to the Service's own address would reach a random
// member.
func (r *EtcdBenchmarkReconciler) resolveService(ctx context.Context, run *v1alpha1.EtcdBenchmark) (lifecycle.Target, error) {
	want := run.Spec.Target.Service
	service := &corev1.Service{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: want.Name}, service)
	if apierrors.IsNotFound(err) {
		return missing("Service %s does not exist in namespace %s: create it, or name another in spec.target.service.name.", want.Name, run.Namespace), nil
	}
	if err != nil {
		return lifecycle.Target{}, err
	}
	port, problem := memberPort(service, want.Port)
	if problem != "" {
		return lifecycle.Target{Missing: problem}, nil
	}
	slices := &discoveryv1.EndpointSliceList{}
	err = r.APIReader.List(ctx, slices, client.InNamespace(run.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: want.Name})
	if err != nil {
		return lifecycle.Target{}, err
	}
	target, err := r.resolveSlices(ctx, run, slices.Items, port)
	if err != nil || len(service.Spec.Selector) == 0 {
		return target, err
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	pods := &corev1.PodList{}
	if err := r.APIReader.List(ctx, pods, client.InNamespace(run.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return lifecycle.Target{}, err
	}
	return r.countStarting(ctx, run, target, pods.Items, selector)
}

// The default of spec.target.service.port, and what it means for a Service without ports.
const (
	defaultPortName   = "client"
	defaultPortNumber = 2379
)

// portOfMembers is where the members behind a Service listen: at a number, or where 0 at the port of this name in
// EndpointSlices.
type portOfMembers struct {
	name   string
	number int32
}

// memberPort returns the port of the members, or why the Service does not tell it. The Service of an EtcdCluster has no ports,
// and neither have its EndpointSlices.
func memberPort(service *corev1.Service, want intstr.IntOrString) (port portOfMembers, problem string) {
	switch isNumber := want.Type == intstr.Int; {
	case len(service.Spec.Ports) > 0:
		for _, p := range service.Spec.Ports {
			if !isNumber && p.Name == want.StrVal || isNumber && p.Port == want.IntVal {
				return portOfMembers{name: p.Name}, ""
			}
		}
		return port, fmt.Sprintf("Service %s has no port %s, only %s: name one of them in spec.target.service.port.", service.Name, want.String(), portNames(service))
	case isNumber:
		return portOfMembers{number: want.IntVal}, ""
	case want.StrVal == defaultPortName:
		return portOfMembers{number: defaultPortNumber}, ""
	}
	return port, fmt.Sprintf("Service %s has no ports, so the port %s is not known: set spec.target.service.port to the number of the members' port, or remove it for %d.", service.Name, want.StrVal, defaultPortNumber)
}

func portNames(service *corev1.Service) string {
	var names []string
	for _, p := range service.Spec.Ports {
		names = append(names, fmt.Sprintf("%s (%d)", cmp.Or(p.Name, "unnamed"), p.Port))
	}
	return strings.Join(names, ", ")
}

// resolveSlices returns the members that are ready. If none is, it returns those that the Service publishes all the same,
// so that the client pods can tell what is wrong with them. A run that only observes looks at all.
func (r *EtcdBenchmarkReconciler) resolveSlices(ctx context.Context, run *v1alpha1.EtcdBenchmark, items []discoveryv1.EndpointSlice, port portOfMembers) (lifecycle.Target, error) {
	var endpoints, nodes, published, publishedNodes []string
	for _, slice := range items {
		number := port.in(slice)
		for _, e := range slice.Endpoints {
			isAway := !ptr.Deref(e.Conditions.Ready, true) && (!run.OnlyObserves() || ptr.Deref(e.Conditions.Terminating, false))
			if number == 0 || len(e.Addresses) == 0 || isAway {
				continue
			}
			host, err := r.hostOfEndpoint(ctx, run, e)
			if err != nil {
				return lifecycle.Target{}, err
			}
			address, node := net.JoinHostPort(host, strconv.Itoa(int(number))), ptr.Deref(e.NodeName, "")
			// The condition ready is true for every pod of a Service with publishNotReadyAddresses.
			if published, publishedNodes = append(published, address), append(publishedNodes, node); ptr.Deref(e.Conditions.Serving, true) || run.OnlyObserves() {
				endpoints, nodes = append(endpoints, address), append(nodes, node)
			}
		}
	}
	switch {
	case len(published) == 0:
		return missing("Service %s has no ready endpoint. Check that the etcd pods that it selects are ready.", run.Spec.Target.Service.Name), nil
	case len(endpoints) == 0:
		return found(published, publishedNodes), nil
	}
	return found(endpoints, nodes), nil
}

// in returns the port of the members of an EndpointSlice, 0 if it has none.
func (o portOfMembers) in(slice discoveryv1.EndpointSlice) int32 {
	for _, p := range slice.Ports {
		if o.number == 0 && p.Port != nil && ptr.Deref(p.Name, "") == o.name {
			return *p.Port
		}
	}
	return o.number
}

// hostOfEndpoint prefers the DNS name of the member's pod if the target uses TLS.
func (r *EtcdBenchmarkReconciler) hostOfEndpoint(ctx context.Context, run *v1alpha1.EtcdBenchmark, e discoveryv1.Endpoint) (string, error) {
	if !needsNames(run) || e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
		return e.Addresses[0], nil
	}
	pod := &corev1.Pod{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: e.TargetRef.Name}, pod)
	if apierrors.IsNotFound(err) {
		return e.Addresses[0], nil
	}
	return cmp.Or(podHost(pod), e.Addresses[0]), err
}

// resolvePods returns the ready pods.
func (r *EtcdBenchmarkReconciler) resolvePods(ctx context.Context, run *v1alpha1.EtcdBenchmark) (lifecycle.Target, error) {
	want := run.Spec.Target.Pods
	selector, err := metav1.LabelSelectorAsSelector(&want.Selector)
	if err != nil {
		return missing("spec.target.pods.selector is invalid: %v.", err), nil
	}
	pods := &corev1.PodList{}
	if err := r.APIReader.List(ctx, pods, client.InNamespace(run.Namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return lifecycle.Target{}, err
	}
	var endpoints, nodes []string
	for i := range pods.Items {
		if host := memberHost(run, &pods.Items[i]); host != "" {
			endpoints = append(endpoints, net.JoinHostPort(host, strconv.Itoa(int(want.Port))))
			nodes = append(nodes, pods.Items[i].Spec.NodeName)
		}
	}
	target := found(endpoints, nodes)
	if len(endpoints) == 0 {
		target = missing("No ready pod in namespace %s matches spec.target.pods.selector (%s); %d matching pods are not ready.", run.Namespace, selector, len(pods.Items))
	}
	return r.countStarting(ctx, run, target, pods.Items, selector)
}

// memberHost returns "" for a pod that is not ready. A run that only observes wants to know why it is not.
func memberHost(run *v1alpha1.EtcdBenchmark, pod *corev1.Pod) string {
	if !isReady(pod) && !run.OnlyObserves() || !pod.DeletionTimestamp.IsZero() {
		return ""
	}
	if needsNames(run) {
		return cmp.Or(podHost(pod), pod.Status.PodIP)
	}
	return pod.Status.PodIP
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// needsNames reports whether the address must be a name that the certificate covers. This is so with TLS, unless the
// run sets the name to check.
func needsNames(run *v1alpha1.EtcdBenchmark) bool {
	tls := run.Spec.Target.TLS
	return tls != nil && tls.ServerName == ""
}

// podHost returns the DNS name of a pod of a StatefulSet, "" for other pods.
func podHost(pod *corev1.Pod) string {
	if pod.Spec.Hostname == "" || pod.Spec.Subdomain == "" {
		return ""
	}
	return pod.Spec.Hostname + "." + pod.Spec.Subdomain + "." + pod.Namespace + ".svc"
}
