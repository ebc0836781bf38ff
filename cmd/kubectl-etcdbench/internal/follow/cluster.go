package follow

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

// fieldManager owns the fields of created runs.
const fieldManager = "kubectl-etcdbench"

// ErrExists is the cause of Create's error if a run of that name exists.
var ErrExists = errors.New("a run of that name exists")

// Cluster is an API server with runs.
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

// Create creates the run and fills in the fields that the server adds. The server checks fields strictly; its refusals
// are returned unchanged.
func (c *Cluster) Create(ctx context.Context, run *unstructured.Unstructured) error {
	wanted := client.ObjectKeyFromObject(run)
	err := c.client.Create(ctx, run, &client.CreateOptions{
		FieldManager:    fieldManager,
		FieldValidation: metav1.FieldValidationStrict,
	})
	if apierrors.IsAlreadyExists(err) {
		return c.exists(ctx, wanted)
	}
	return explain(err)
}

// exists returns an error with the state of the existing run.
func (c *Cluster) exists(ctx context.Context, key client.ObjectKey) error {
	state := "in an unknown state"
	old := &v1alpha1.EtcdBenchmark{}
	if err := c.client.Get(ctx, key, old); err == nil {
		state = "in state " + State(old)
	}
	return fmt.Errorf("%w: %s, %s. A run is never repeated: delete it first "+
		"(kubectl delete etcdbenchmark -n %s %s), or create the new one under a new name (--generate-name)",
		ErrExists, key, state, key.Namespace, key.Name)
}

// Run returns a run.
func (c *Cluster) Run(ctx context.Context, key client.ObjectKey) (*v1alpha1.EtcdBenchmark, error) {
	run := &v1alpha1.EtcdBenchmark{}
	if err := c.client.Get(ctx, key, run); err != nil {
		return nil, fmt.Errorf("reading the run %s: %w", key, err)
	}
	return run, nil
}

// Stop sets spec.stop: the operator ends the run and keeps the result so far.
func (c *Cluster) Stop(ctx context.Context, key client.ObjectKey) error {
	run := &v1alpha1.EtcdBenchmark{}
	run.Namespace, run.Name = key.Namespace, key.Name
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"stop":true}}`))
	if err := c.client.Patch(ctx, run, patch, client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("stopping the run %s: %w", key, err)
	}
	return nil
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

// State is the reason of the condition Finished: the stage, or how the run ended.
func State(run *v1alpha1.EtcdBenchmark) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c != nil {
		return c.Reason
	}
	return v1alpha1.StagePending
}

// IsFinished reports whether the run has ended, for any reason.
func IsFinished(run *v1alpha1.EtcdBenchmark) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
}

// explain adds advice to errors that the user can fix.
func explain(err error) error {
	_, unreachable := errors.AsType[*url.Error](err)
	switch {
	case unreachable:
		return fmt.Errorf("the cluster cannot be reached: %w. Check --kubeconfig, --context and KUBECONFIG, or use \"kubectl etcdbench run --local\", which needs no cluster", err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("this cluster has no kind EtcdBenchmark: install the operator "+
			"(helm install etcd-benchmark-operator …), or use \"kubectl etcdbench run --local\", which needs no cluster: %w", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the cluster does not accept this user: check the kubeconfig: %w", err)
	}
	return err
}
