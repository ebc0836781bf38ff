package command

import (
	"context"
	"fmt"
	"os"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/internal/history"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// compareSuites compares two suites cell by cell.
func (f *finder) compareSuites(ctx context.Context, flags *compareFlags, metrics []v1alpha1.Metric, baseline, candidate *v1alpha1.EtcdBenchmarkSuite) error {
	if baseline.UID != "" && baseline.UID == candidate.UID {
		return fmt.Errorf("found the suite %s twice: wanted two suites", baseline.Name)
	}
	for _, m := range metrics {
		if !suite.Keeps(m) {
			return fmt.Errorf("--metric: a suite does not keep %s: wanted Throughput, or Mean, P50, P90, P99, P999 or Max of a latency", m)
		}
	}
	histories, err := f.histories(ctx, baseline, candidate)
	if err != nil {
		return err
	}
	result, err := suite.Against(baseline, candidate, metrics, histories)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("Comparison of the suites %s and %s", result.Baseline.Suite, result.Candidate.Suite)
	return f.writeComparison(flags, &compared{title, result.Verdict, render.Sessions(result), result})
}

// suite reads a side that is a suite: suite/NAME, or a file with a suite. It returns nil if the side is something else.
func (f *finder) suiteOf(ctx context.Context, side string) (*v1alpha1.EtcdBenchmarkSuite, error) {
	kind, name := kindWord(side)
	switch {
	case kind == "suite":
		if err := f.connect(); err != nil {
			return nil, err
		}
		return follow.Suites.Get(ctx, f.cluster, client.ObjectKey{Namespace: f.namespace, Name: name})
	case !strings.ContainsAny(side, `./\`) || strings.Contains(side, ","):
		return nil, nil
	}
	data, err := os.ReadFile(side)
	if err != nil {
		// The error is that of reading runs.
		return nil, nil
	}
	d, err := report.Read(data)
	if err != nil || d.Suite == nil {
		return nil, nil
	}
	return d.Suite, nil
}

// histories are those of the schedule that created one of the suites, if there is a cluster to read it from.
func (f *finder) histories(ctx context.Context, baseline, candidate *v1alpha1.EtcdBenchmarkSuite) (suite.Histories, error) {
	for _, of := range []*v1alpha1.EtcdBenchmarkSuite{baseline, candidate} {
		owner := metav1.GetControllerOf(of)
		if f.cluster == nil || owner == nil || owner.Kind != "EtcdBenchmarkSchedule" {
			continue
		}
		sch, err := f.cluster.Schedule(ctx, client.ObjectKey{Namespace: of.Namespace, Name: owner.Name})
		switch {
		case err == nil && sch.UID == owner.UID:
			return history.Spreads(sch, of, baseline.Name, candidate.Name), nil
		case err != nil && !apierrors.IsNotFound(err):
			return suite.Histories{}, err
		}
	}
	return suite.Histories{}, nil
}

// readSuite reads the file with a suite that has finished.
func readSuite(path string) (*v1alpha1.EtcdBenchmarkSuite, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a suite: %w", err)
	}
	d, err := report.Read(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if d.Suite == nil {
		return nil, fmt.Errorf("reading %s: wanted an EtcdBenchmarkSuite as \"run -o json\" writes it, found something else", path)
	}
	return d.Suite, nil
}
