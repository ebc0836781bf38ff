package controllers

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

const (
	// reportMaxWait is how long the operator tries to write a report before the run finishes without it. A webhook or
	// an API server that restarts is available again by then.
	reportMaxWait = 20 * time.Second
	// reportTimeout bounds one attempt; a webhook may take half a minute to fail.
	reportTimeout = 8 * time.Second
)

// keepReport writes the ConfigMap with the merged histograms. The run finishes without a report, and with a warning, if
// the API server refuses it (for example because of a quota), if it is too large, or if writing fails for too long.
func (r *EtcdBenchmarkReconciler) keepReport(ctx context.Context, run *v1alpha1.EtcdBenchmark, o lifecycle.Observed, sum results.Summary, now time.Time) error {
	report, err := benchmark.Report(run, sum)
	if err != nil {
		warnOfReport(run, err)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	err = r.Client.Apply(ctx, resources.ReportConfigMap(run, report), fieldOwner, client.ForceOwnership)
	switch {
	case err == nil:
		run.Status.ReportName = run.ReportConfigMapName()
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), isTooLarge(err), now.Sub(r.seen(run, "report that fails")) >= reportMaxWait, !now.Before(lifecycle.ReportBy(o)):
		warnOfReport(run, err)
	default:
		return err
	}
	return nil
}

func warnOfReport(run *v1alpha1.EtcdBenchmark, err error) {
	s := run.Status.Summary
	s.Warnings = verdict.AppendWarning(s.Warnings, "The report could not be written: "+err.Error())
}

// isTooLarge recognizes the refusal of the API server, and those of its etcd and of its etcd client, which the API
// server returns as internal errors.
func isTooLarge(err error) bool {
	return err != nil && (apierrors.IsRequestEntityTooLargeError(err) ||
		strings.Contains(err.Error(), "etcdserver: request is too large") ||
		strings.Contains(err.Error(), "trying to send message larger than max"))
}
