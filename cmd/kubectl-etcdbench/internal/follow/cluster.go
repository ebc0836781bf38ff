package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

// Cluster is an API server with runs and suites.
type Cluster struct {
	client client.WithWatch
}

// NewCluster returns a client of an API server. It may ask the server for the kinds that it serves.
func NewCluster(config *rest.Config) (*Cluster, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return &Cluster{client: c}, nil
}

// Report returns the report of a finished run, nil if it has none. It returns nil without an error if the report cannot
// be read: a user may be allowed to read runs and not ConfigMaps.
func (c *Cluster) Report(ctx context.Context, run *v1alpha1.EtcdBenchmark) []byte {
	if run.Status.ReportName == "" {
		return nil
	}
	report := &corev1.ConfigMap{}
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Status.ReportName}, report); err != nil {
		return nil
	}
	return []byte(report.Data[benchmark.ReportFile])
}

// RunsOf returns the runs of a suite that exist, by name.
func (c *Cluster) RunsOf(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) ([]v1alpha1.EtcdBenchmark, error) {
	list := &v1alpha1.EtcdBenchmarkList{}
	if err := c.client.List(ctx, list, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelSuite: s.Name}); err != nil {
		return nil, fmt.Errorf("reading the runs of the suite %s/%s: %w", s.Namespace, s.Name, err)
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.EtcdBenchmark) int { return cmp.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// Schedule returns a schedule.
func (c *Cluster) Schedule(ctx context.Context, key client.ObjectKey) (*v1alpha1.EtcdBenchmarkSchedule, error) {
	s := &v1alpha1.EtcdBenchmarkSchedule{}
	if err := c.client.Get(ctx, key, s); err != nil {
		return nil, fmt.Errorf("reading the schedule %s: %w", key, err)
	}
	return s, nil
}

// explain adds advice to errors that the user can fix.
func (k *Kind[T]) explain(err error) error {
	_, unreachable := errors.AsType[*url.Error](err)
	switch {
	case unreachable:
		return fmt.Errorf("the cluster cannot be reached: %w. Check --kubeconfig, --context and KUBECONFIG, or use \"kubectl etcdbench run --local\", which needs no cluster", err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("this cluster has no kind %s: install the operator, or a newer version of it "+
			"(helm upgrade --install etcd-benchmark-operator …), or use \"kubectl etcdbench run --local\", which needs no cluster: %w", k.name, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the cluster does not accept this user: check the kubeconfig: %w", err)
	}
	return err
}
