package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
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
	config *rest.Config
	// selected are the flags with which a command leads to this cluster, each after a space.
	selected string
}

// At are the flags with which a printed command leads to a namespace of this cluster.
func (c *Cluster) At(namespace string) string { return "-n " + namespace + c.selected }

// Config is how the API server is reached.
func (c *Cluster) Config() *rest.Config { return c.config }

// NewCluster returns a client of an API server. It may ask the server for the kinds that it serves. selected are the flags
// that lead to it, each after a space.
func NewCluster(config *rest.Config, selected string) (*Cluster, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	// A client's limit of its own requests is no help against an API server that has one, and its error shortly before a
	// deadline is not that of the deadline.
	config = rest.CopyConfig(config)
	config.QPS = -1
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return &Cluster{client: c, config: config, selected: selected}, nil
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

// Runs returns the runs of a namespace, or of all namespaces if it is empty.
func (c *Cluster) Runs(ctx context.Context, namespace string) ([]v1alpha1.EtcdBenchmark, error) {
	list := &v1alpha1.EtcdBenchmarkList{}
	if err := c.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing runs: %w", Runs.explain(err))
	}
	return list.Items, nil
}

// Suites returns the suites of a namespace, or of all namespaces if it is empty.
func (c *Cluster) Suites(ctx context.Context, namespace string) ([]v1alpha1.EtcdBenchmarkSuite, error) {
	list := &v1alpha1.EtcdBenchmarkSuiteList{}
	if err := c.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing suites: %w", Suites.explain(err))
	}
	return list.Items, nil
}

// Schedules returns the schedules of a namespace, or of all namespaces if it is empty.
func (c *Cluster) Schedules(ctx context.Context, namespace string) ([]v1alpha1.EtcdBenchmarkSchedule, error) {
	list := &v1alpha1.EtcdBenchmarkScheduleList{}
	if err := c.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing schedules: %w", (&Kind[*v1alpha1.EtcdBenchmarkSchedule]{name: "EtcdBenchmarkSchedule"}).explain(err))
	}
	return list.Items, nil
}

// Namespaces returns the names of all namespaces.
func (c *Cluster) Namespaces(ctx context.Context) (names []string, err error) {
	list := &corev1.NamespaceList{}
	if err := c.client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	for _, n := range list.Items {
		names = append(names, n.Name)
	}
	return names, nil
}

// PodsOf returns the client pods of a run that exist, in the order of their indices.
func (c *Cluster) PodsOf(ctx context.Context, run *v1alpha1.EtcdBenchmark) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	labels := client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelComponent: v1alpha1.ComponentLoad}
	if err := c.client.List(ctx, list, client.InNamespace(run.Namespace), labels); err != nil {
		return nil, fmt.Errorf("listing the client pods of the run %s/%s: %w", run.Namespace, run.Name, err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(indexOf(a), indexOf(b)), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// indexOf is the index of a client pod, or -1 if it has none.
func indexOf(pod corev1.Pod) int {
	if index, err := strconv.Atoi(pod.Labels[batchv1.JobCompletionIndexAnnotation]); err == nil {
		return index
	}
	return -1
}

// RunsOf returns// RunsOf returns the runs of a suite that exist, by name.
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
		return fmt.Errorf("the cluster cannot be reached: %w. Check --kubeconfig, --context and KUBECONFIG", err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("this cluster has no kind %s: install the operator, or a newer version of it "+
			"(helm upgrade --install etcd-benchmark-operator …): %w", k.name, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the cluster does not accept this user: check the kubeconfig: %w", err)
	}
	return err
}

// OrLocally adds to an error that the object to be created can run without a cluster.
func OrLocally(err error) error {
	return fmt.Errorf("%w. \"kubectl etcdbench run --local\" needs no cluster", err)
}
