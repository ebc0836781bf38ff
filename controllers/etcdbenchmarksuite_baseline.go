package controllers

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/history"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// keepBaseline reads the suite with which a suite is compared, and keeps its numbers in status: a later change or deletion
// of that suite changes no verdict. problem is why there can be no comparison, err a temporary error.
func (r *EtcdBenchmarkSuiteReconciler) keepBaseline(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) (problem, err error) {
	name := suite.NeedsBaseline(s)
	if name == "" {
		return nil, nil
	}
	refused := func(why string) error {
		return fmt.Errorf("spec.compare.baseline.suite.name: the EtcdBenchmarkSuite %s cannot be the baseline: %s", name, why)
	}
	baseline := &v1alpha1.EtcdBenchmarkSuite{}
	err = r.APIReader.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, baseline)
	switch {
	case apierrors.IsNotFound(err):
		return refused("it does not exist in the namespace " + s.Namespace + ". Run it first, or name another suite"), nil
	case err != nil:
		return nil, err
	case baseline.UID == s.UID:
		return refused("it is this suite itself. Name a suite that has finished"), nil
	}
	histories, err := r.histories(ctx, baseline, s)
	if err != nil {
		return nil, err
	}
	if err := suite.Keep(s, baseline, histories); err != nil {
		return refused(err.Error()), nil
	}
	return nil, nil
}

// histories are those of the schedule that created the baseline, else of the one that created the suite.
func (r *EtcdBenchmarkSuiteReconciler) histories(ctx context.Context, baseline, s *v1alpha1.EtcdBenchmarkSuite) (suite.Histories, error) {
	for _, of := range []*v1alpha1.EtcdBenchmarkSuite{baseline, s} {
		owner := metav1.GetControllerOf(of)
		if owner == nil || owner.Kind != scheduleKind {
			continue
		}
		sch := &v1alpha1.EtcdBenchmarkSchedule{}
		err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: owner.Name}, sch)
		switch {
		case err == nil && isOwnedBy(of, sch.UID, scheduleKind):
			return history.Spreads(sch, of, baseline.Name, s.Name), nil
		case client.IgnoreNotFound(err) != nil:
			return suite.Histories{}, err
		}
	}
	return suite.Histories{}, nil
}
