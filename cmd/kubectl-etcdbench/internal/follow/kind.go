package follow

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// fieldManager owns the fields of created objects.
const fieldManager = "kubectl-etcdbench"

// ErrExists is the cause of Create's error if an object of that name exists.
var ErrExists = errors.New("exists already")

// Kind is Runs or Suites. It has what differs between the two.
type Kind[T client.Object] struct {
	// Noun is the word of messages, name that of the API, resource that of kubectl.
	Noun, name, resource string

	empty      func() T
	list       func() client.ObjectList
	observed   func(T) int64
	conditions func(T) []metav1.Condition
}

// Runs and Suites are the kinds that can be followed.
var (
	Runs = &Kind[*v1alpha1.EtcdBenchmark]{
		Noun: "run", name: "EtcdBenchmark", resource: "etcdbenchmark",
		empty:      func() *v1alpha1.EtcdBenchmark { return &v1alpha1.EtcdBenchmark{} },
		list:       func() client.ObjectList { return &v1alpha1.EtcdBenchmarkList{} },
		observed:   func(run *v1alpha1.EtcdBenchmark) int64 { return run.Status.ObservedGeneration },
		conditions: func(run *v1alpha1.EtcdBenchmark) []metav1.Condition { return run.Status.Conditions },
	}
	Suites = &Kind[*v1alpha1.EtcdBenchmarkSuite]{
		Noun: "suite", name: "EtcdBenchmarkSuite", resource: "etcdbenchmarksuite",
		empty:      func() *v1alpha1.EtcdBenchmarkSuite { return &v1alpha1.EtcdBenchmarkSuite{} },
		list:       func() client.ObjectList { return &v1alpha1.EtcdBenchmarkSuiteList{} },
		observed:   func(s *v1alpha1.EtcdBenchmarkSuite) int64 { return s.Status.ObservedGeneration },
		conditions: func(s *v1alpha1.EtcdBenchmarkSuite) []metav1.Condition { return s.Status.Conditions },
	}
)

// Create creates the object and fills in the fields that the server adds. The server checks fields strictly; its
// refusals are returned unchanged.
func (k *Kind[T]) Create(ctx context.Context, c *Cluster, object *unstructured.Unstructured) error {
	return k.create(ctx, c, object, nil)
}

// Try does the same without creating anything: the server checks the object and fills in what it would add.
func (k *Kind[T]) Try(ctx context.Context, c *Cluster, object *unstructured.Unstructured) error {
	return k.create(ctx, c, object, []string{metav1.DryRunAll})
}

func (k *Kind[T]) create(ctx context.Context, c *Cluster, object *unstructured.Unstructured, dryRun []string) error {
	wanted := client.ObjectKeyFromObject(object)
	err := c.client.Create(ctx, object, &client.CreateOptions{
		FieldManager:    fieldManager,
		FieldValidation: metav1.FieldValidationStrict,
		DryRun:          dryRun,
	})
	if apierrors.IsAlreadyExists(err) {
		return k.exists(ctx, c, wanted)
	}
	if _, unreachable := errors.AsType[*url.Error](err); unreachable || meta.IsNoMatchError(err) {
		return OrLocally(k.explain(err))
	}
	return k.explain(err)
}

// exists returns an error with the state of the existing object.
func (k *Kind[T]) exists(ctx context.Context, c *Cluster, key client.ObjectKey) error {
	state := "in an unknown state"
	if old, err := k.Get(ctx, c, key); err == nil {
		state = "in state " + k.State(old)
	}
	return fmt.Errorf("the %s %s %w, %s. A %s is never repeated: delete it first "+
		"(kubectl delete %s %s %s), or create the new one under a new name (--generate-name)",
		k.Noun, key, ErrExists, state, k.Noun, k.resource, c.At(key.Namespace), key.Name)
}

// Get returns an object.
func (k *Kind[T]) Get(ctx context.Context, c *Cluster, key client.ObjectKey) (T, error) {
	object := k.empty()
	if err := c.client.Get(ctx, key, object); err != nil {
		return object, fmt.Errorf("reading the %s %s: %w", k.Noun, key, err)
	}
	return object, nil
}

// Stop sets spec.stop: the operator ends the run or the suite and keeps the result so far.
func (k *Kind[T]) Stop(ctx context.Context, c *Cluster, key client.ObjectKey) error {
	object := k.empty()
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"stop":true}}`))
	if err := c.client.Patch(ctx, object, patch, client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("stopping the %s %s: %w", k.Noun, key, err)
	}
	return nil
}

// State is the reason of the condition Finished: the stage, or how the object ended.
func (k *Kind[T]) State(object T) string {
	if c := meta.FindStatusCondition(k.conditions(object), v1alpha1.ConditionFinished); c != nil {
		return c.Reason
	}
	return v1alpha1.StagePending
}

// IsFinished reports whether the object has ended, for any reason.
func (k *Kind[T]) IsFinished(object T) bool {
	return meta.IsStatusConditionTrue(k.conditions(object), v1alpha1.ConditionFinished)
}
