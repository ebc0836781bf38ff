package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

const suiteKind = "EtcdBenchmarkSuite"

// childOf returns the run with the suite as its owner, so that Kubernetes deletes it with the suite.
func childOf(s *v1alpha1.EtcdBenchmarkSuite, p suite.Planned) *v1alpha1.EtcdBenchmark {
	run := p.Run(s)
	run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s, v1alpha1.GroupVersion.WithKind(suiteKind))}
	return run
}

// isOfSuite reports whether a suite has created a run.
func isOfSuite(run *v1alpha1.EtcdBenchmark, s *v1alpha1.EtcdBenchmarkSuite) bool {
	return isOwnedBy(run, s.UID, suiteKind)
}

// isOwnedBy reports whether the controller of an object is that of a kind of this API. A policy allows only the operator
// to set such an owner. The policy compares the kind, so the kind is compared here, too: an owner of another kind could
// carry the same UID.
func isOwnedBy(o metav1.Object, uid types.UID, kind string) bool {
	owner := metav1.GetControllerOf(o)
	if owner == nil {
		return false
	}
	group, _, hasVersion := strings.Cut(owner.APIVersion, "/")
	return owner.UID == uid && owner.Kind == kind && hasVersion && group == v1alpha1.GroupVersion.Group
}

// waiting is a temporary error that a user can understand and end. Its text is in the suite's condition. The text of
// other errors is only in the log: it can differ with each attempt, and each change of status causes another attempt.
type waiting struct{ error }

// isOfEarlierSuite reports whether a deleted suite of the same name has created a run. Kubernetes deletes such runs.
func isOfEarlierSuite(run *v1alpha1.EtcdBenchmark, s *v1alpha1.EtcdBenchmarkSuite) bool {
	owner := metav1.GetControllerOf(run)
	return owner != nil && owner.Kind == suiteKind && owner.Name == s.Name && owner.UID != s.UID
}

// live reads a run from the API server; nil if it does not exist.
func (r *EtcdBenchmarkSuiteReconciler) live(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite, name string) (*v1alpha1.EtcdBenchmark, error) {
	run := &v1alpha1.EtcdBenchmark{}
	if err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, run); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return run, nil
}

// checkCells asks the API server whether it would accept the run of each cell. unchecked are cells that it cannot check
// before they run, for example because a webhook does not support dry runs. problem is a refusal, err a temporary error.
func (r *EtcdBenchmarkSuiteReconciler) checkCells(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) (unchecked []string, problem, err error) {
	for _, p := range suite.Examples(s) {
		err := r.Client.Create(ctx, childOf(s, p), client.DryRunAll, fieldOwner)
		if apierrors.IsBadRequest(err) {
			log.FromContext(ctx).Info("The API server cannot check a run", "run", p.Name, "problem", err.Error())
			if !slices.Contains(unchecked, p.Cell.Name) {
				unchecked = append(unchecked, p.Cell.Name)
			}
			continue
		}
		if problem, err := r.classify(ctx, s, p, err); problem != nil || err != nil {
			return nil, within(p, problem), err
		}
	}
	return unchecked, nil, nil
}

func within(p suite.Planned, problem error) error {
	if problem == nil {
		return nil
	}
	return fmt.Errorf("the cell %s: %w", p.Cell.Name, problem)
}

// create creates a run. problem is a refusal of the API server, which a retry would not change.
func (r *EtcdBenchmarkSuiteReconciler) create(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite, p suite.Planned) (problem, err error) {
	// A run must not be created from an old state of the suite: it may have ended and been deleted since.
	fresh := &v1alpha1.EtcdBenchmarkSuite{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(s), fresh); err != nil {
		return nil, err
	}
	if fresh.ResourceVersion != s.ResourceVersion {
		return nil, errStale
	}
	return r.classify(ctx, s, p, r.Client.Create(ctx, childOf(s, p), fieldOwner))
}

// classify separates permanent refusals to create a run from temporary errors.
func (r *EtcdBenchmarkSuiteReconciler) classify(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite, p suite.Planned, err error) (problem, temporary error) {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil, err
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		return nil, waiting{fmt.Errorf("the quota has no room for the run %s: %w", p.Name, err)}
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return err, nil
	case apierrors.IsAlreadyExists(err):
		run, err := r.live(ctx, s, p.Name)
		switch {
		case err != nil || run != nil && isOfSuite(run, s):
			return nil, err
		case run == nil:
			return nil, errStale
		case run.DeletionTimestamp != nil || isOfEarlierSuite(run, s):
			return nil, waiting{fmt.Errorf("the EtcdBenchmark %s of an earlier suite is still being deleted", p.Name)}
		}
		return fmt.Errorf("an EtcdBenchmark %s exists that does not belong to this suite: delete it, or give the suite another name", p.Name), nil
	}
	return nil, err
}

// stop sets spec.stop of a run. The run ends with what it has measured.
func (r *EtcdBenchmarkSuiteReconciler) stop(ctx context.Context, run *v1alpha1.EtcdBenchmark) error {
	before := run.DeepCopy()
	run.Spec.Stop = true
	return client.IgnoreNotFound(r.Client.Patch(ctx, run, client.MergeFrom(before), fieldOwner))
}
