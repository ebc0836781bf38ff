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

// fieldManager is the name under which the fields of created runs are owned.
const fieldManager = "kubectl-etcdbench"

// ErrExists is the cause of Create's error where a run of that name exists.
var ErrExists = errors.New("a run of that name exists")

// Cluster is an API server with runs.
type Cluster struct {
	client client.WithWatch
}

// NewCluster prepares to speak to an API server; it may contact it to learn
// which kinds it serves.
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

// Create creates the run and fills in what the server added. The server checks
// fields strictly; its refusals are returned as they came.
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

// exists says what state the run is in that is in the way.
func (c *Cluster) exists(ctx context.Context, key client.ObjectKey) error {
	state := "in an unknown state"
	old := &v1alpha1.EtcdBenchmark{}
	if err := c.client.Get(ctx, key, old); err == nil {
		state = "in state " + State(old)
	}
	return fmt.Errorf("%w: %s, %s. A run is never repeated: delete it first "+
		"(kubectl delete etcdbenchmark -n %s %s) or let the new one get a name of its own (--generate-name)",
		ErrExists, key, state, key.Namespace, key.Name)
}

// Stop asks the operator to end the run now and keep what was measured.
func (c *Cluster) Stop(ctx context.Context, key client.ObjectKey) error {
	run := &v1alpha1.EtcdBenchmark{}
	run.Namespace, run.Name = key.Namespace, key.Name
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"stop":true}}`))
	if err := c.client.Patch(ctx, run, patch, client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("stopping the run %s: %w", key, err)
	}
	return nil
}

// Timeline returns what came when in a finished run, from its report, or nil if
// that is not to be had: a reader of runs need not be one of ConfigMaps.
func (c *Cluster) Timeline(ctx context.Context, run *v1alpha1.EtcdBenchmark) *benchmark.Timeline {
	if run.Status.ReportName == "" {
		return nil
	}
	report := &corev1.ConfigMap{}
	if err := c.client.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Status.ReportName}, report); err != nil {
		return nil
	}
	timeline, err := benchmark.ReportTimeline([]byte(report.Data[benchmark.ReportFile]))
	if err != nil {
		return nil
	}
	return timeline
}

// State is the reason of the condition Finished: the stage, or how it ended.
func State(run *v1alpha1.EtcdBenchmark) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c != nil {
		return c.Reason
	}
	return v1alpha1.StagePending
}

// IsFinished says whether the run has ended, for whatever reason.
func IsFinished(run *v1alpha1.EtcdBenchmark) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
}

// explain puts what to do beside errors that a person can do something about.
func explain(err error) error {
	_, unreachable := errors.AsType[*url.Error](err)
	switch {
	case unreachable:
		return fmt.Errorf("the cluster cannot be reached: %w. Check --kubeconfig, --context and KUBECONFIG, or run without a cluster: run --local", err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("this cluster does not know the kind EtcdBenchmark; install the operator first "+
			"(helm install etcd-benchmark-operator …), or use --local to run without a cluster: %w", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the cluster does not accept this user; check the kubeconfig: %w", err)
	}
	return err
}
