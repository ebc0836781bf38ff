package controllers

import (
	"context"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

const (
	// reportPatience is for how long a report that cannot be written is tried
	// again before its run finishes without it: a webhook or an API server that
	// restarts is back by then.
	reportPatience = 20 * time.Second
	// reportTimeout bounds one try; a webhook may take half a minute to fail.
	reportTimeout = 8 * time.Second
)

// keepReport writes the ConfigMap with the merged histograms. If that is
// refused, by a quota for example, if they fit into none, or if it goes wrong
// for too long, the run finishes without one and says so.
func (r *EtcdBenchmarkReconciler) keepReport(ctx context.Context, run *v1alpha1.EtcdBenchmark, o lifecycle.Observed, now time.Time) error {
	if run.Status.Summary == nil {
		return nil
	}
	snapshots := snapshotsOf(o.Pods)
	report, err := benchmark.Report(run, results.Merge(snapshots), results.Summarize(snapshots))
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
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), isTooLarge(err), r.reports.isHopeless(run, now), !now.Before(lifecycle.ReportBy(o)):
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

// isTooLarge knows the refusal of the API server, and those of its etcd and of
// its client, which it passes on as faults of its own.
func isTooLarge(err error) bool {
	return err != nil && (apierrors.IsRequestEntityTooLargeError(err) ||
		strings.Contains(err.Error(), "etcdserver: request is too large") ||
		strings.Contains(err.Error(), "trying to send message larger than max"))
}

// overdue knows since when the reports of runs cannot be written. An operator
// that starts anew begins anew. The zero value is ready.
type overdue struct {
	mutex sync.Mutex
	since map[types.NamespacedName]failing
}

type failing struct {
	uid types.UID
	at  time.Time
}

// isHopeless notes that a report could not be written now, and says whether that
// has been so for long enough.
func (p *overdue) isHopeless(run *v1alpha1.EtcdBenchmark, now time.Time) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	key := client.ObjectKeyFromObject(run)
	first, ok := p.since[key]
	if !ok || first.uid != run.UID {
		if p.since == nil {
			p.since = map[types.NamespacedName]failing{}
		}
		first = failing{run.UID, now}
		p.since[key] = first
	}
	return now.Sub(first.at) >= reportPatience
}

// forget a run that has finished, or is gone.
func (p *overdue) forget(key types.NamespacedName) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.since, key)
}
