package controllers

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// Caps are the operator's limits for every run; the zero value has no limits.
type Caps = lifecycle.Caps

// HostPattern is one of Caps.Endpoints.
type HostPattern = lifecycle.HostPattern

// ParseHostPattern reads a CIDR, an address, or a name in which * matches any text.
func ParseHostPattern(text string) (HostPattern, error) {
	return lifecycle.ParseHostPattern(text)
}

// EndpointPattern is one of Caps.ControlPlane.
type EndpointPattern = lifecycle.EndpointPattern

// ParseEndpointPattern reads a HostPattern with or without a port.
func ParseEndpointPattern(text string) (EndpointPattern, error) {
	return lifecycle.ParseEndpointPattern(text)
}

// activeIndex finds the runs that count in the limit of their namespace, which may be a few of thousands.
const activeIndex = "etcdbench.dev/active"

const isActive = "true"

// activeOf are the keys of a run in activeIndex.
func activeOf(o client.Object) []string {
	if run, ok := o.(*v1alpha1.EtcdBenchmark); ok && lifecycle.CountsInNamespace(run) {
		return []string{isActive}
	}
	return nil
}

// observeCaps counts runs in the cache.
func (r *EtcdBenchmarkReconciler) observeCaps(ctx context.Context, o *lifecycle.Observed) error {
	o.Caps = r.Caps
	if r.Caps.RunsPerNamespace == 0 || !lifecycle.AwaitsCaps(o.Run) {
		return nil
	}
	active, err := r.activeRuns(ctx, o.Run.Namespace)
	o.RunsBefore = lifecycle.RunsBefore(o.Run, active)
	return err
}

// activeRuns returns runs that must not be changed: they are those of the cache.
func (r *EtcdBenchmarkReconciler) activeRuns(ctx context.Context, namespace string) ([]v1alpha1.EtcdBenchmark, error) {
	list := &v1alpha1.EtcdBenchmarkList{}
	err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{activeIndex: isActive}, client.UnsafeDisableDeepCopy)
	return list.Items, err
}
