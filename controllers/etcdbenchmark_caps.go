package controllers

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
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

// ParseImagePattern reads one of Caps.MemberImages.
func ParseImagePattern(text string) (lifecycle.ImagePattern, error) {
	return lifecycle.ParseImagePattern(text)
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

// admissions are those of runs of namespaces with a limit that the cache may not show yet. Without them, runs that start at
// once could exceed the limit. deciding is held while such a run is admitted, and protects made.
type admissions struct {
	deciding sync.Mutex
	made     map[client.ObjectKey]types.UID
}

// decideAlone makes the decision on the admission of a run the only one, if there is a limit. It returns the end of that.
// Runs whose addresses are not known are left out: a name that does not resolve must delay no other run.
func (r *EtcdBenchmarkReconciler) decideAlone(run *v1alpha1.EtcdBenchmark) (end func()) {
	if r.Caps.RunsPerNamespace == 0 || !lifecycle.AwaitsAdmission(run) {
		return func() {}
	}
	r.admissions.deciding.Lock()
	return func() {
		if lifecycle.IsAdmitted(run) {
			if r.admissions.made == nil {
				r.admissions.made = map[client.ObjectKey]types.UID{}
			}
			r.admissions.made[client.ObjectKeyFromObject(run)] = run.UID
		}
		r.admissions.deciding.Unlock()
	}
}

// withAdmissions adds the admissions that the cache does not show yet to the active runs of a namespace.
func (r *EtcdBenchmarkReconciler) withAdmissions(ctx context.Context, namespace string, active []v1alpha1.EtcdBenchmark) []v1alpha1.EtcdBenchmark {
	for key, uid := range r.admissions.made {
		if key.Namespace != namespace {
			continue
		}
		run := &v1alpha1.EtcdBenchmark{}
		if err := r.Client.Get(ctx, key, run); err != nil || run.UID != uid || lifecycle.IsAdmitted(run) || run.HasFinished() {
			delete(r.admissions.made, key)
			continue
		}
		run.Status.Admission = &v1alpha1.Admission{}
		active = append(slices.DeleteFunc(active, func(other v1alpha1.EtcdBenchmark) bool { return other.UID == uid }), *run)
	}
	return active
}

// observeCaps counts runs in the cache.
func (r *EtcdBenchmarkReconciler) observeCaps(ctx context.Context, o *lifecycle.Observed) error {
	o.Caps = r.Caps
	if r.Caps.RunsPerNamespace == 0 || !lifecycle.AwaitsAdmission(o.Run) {
		return nil
	}
	active, err := r.activeRuns(ctx, o.Run.Namespace)
	o.RunsBefore = lifecycle.RunsBefore(o.Run, r.withAdmissions(ctx, o.Run.Namespace, active))
	return err
}

// activeRuns returns runs that must not be changed: they are those of the cache.
func (r *EtcdBenchmarkReconciler) activeRuns(ctx context.Context, namespace string) ([]v1alpha1.EtcdBenchmark, error) {
	list := &v1alpha1.EtcdBenchmarkList{}
	err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{activeIndex: isActive}, client.UnsafeDisableDeepCopy)
	return list.Items, err
}
