package controllers

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// Caps are what the operator lets any run do; the zero value is anything.
type Caps = lifecycle.Caps

// HostPattern is one of Caps.Endpoints.
type HostPattern = lifecycle.HostPattern

// ParseHostPattern reads a CIDR, an address, or a name in which * stands for
// anything.
func ParseHostPattern(text string) (HostPattern, error) {
	return lifecycle.ParseHostPattern(text)
}

// EndpointPattern is one of Caps.ControlPlane.
type EndpointPattern = lifecycle.EndpointPattern

// ParseEndpointPattern reads a HostPattern, with a port or without.
func ParseEndpointPattern(text string) (EndpointPattern, error) {
	return lifecycle.ParseEndpointPattern(text)
}

// observeCaps counts runs from the cache: it has each run that this one's author
// has seen finish.
func (r *EtcdBenchmarkReconciler) observeCaps(ctx context.Context, o *lifecycle.Observed) error {
	o.Caps = r.Caps
	if r.Caps.RunsPerNamespace == 0 || !lifecycle.AwaitsCaps(o.Run) {
		return nil
	}
	list := &v1alpha1.EtcdBenchmarkList{}
	err := r.Client.List(ctx, list, client.InNamespace(o.Run.Namespace))
	o.RunsBefore = lifecycle.RunsBefore(o.Run, list.Items)
	return err
}
