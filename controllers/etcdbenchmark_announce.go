package controllers

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// eventAction is the action of all events.
const eventAction = "Run"

// maxNote is the longest note that the events API accepts.
const maxNote = 1024

// announce records an event for each condition that the last write of status changed: the stage, the end, the verdict
// and the keys.
func (r *EtcdBenchmarkReconciler) announce(ctx context.Context, run *v1alpha1.EtcdBenchmark, before *v1alpha1.EtcdBenchmarkStatus) {
	for _, kind := range []string{v1alpha1.ConditionFinished, v1alpha1.ConditionPassed, v1alpha1.ConditionCleaned} {
		old := meta.FindStatusCondition(before.Conditions, kind)
		now := meta.FindStatusCondition(run.Status.Conditions, kind)
		if now == nil || before.StartTime != nil && old != nil && old.Status == now.Status && old.Reason == now.Reason {
			continue
		}
		r.recordEvent(run, isBad(run, now), now.Reason, now.Message)
		log.FromContext(ctx).Info("Condition changed", "condition", kind, "status", now.Status, "reason", now.Reason, "message", now.Message)
	}
	if isFinished(run) && before.CompletionTime == nil {
		runsFinished.WithLabelValues(meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished).Reason).Inc()
	}
}

// note records events that no condition reports, before the object may be gone.
func (r *EtcdBenchmarkReconciler) note(ctx context.Context, run *v1alpha1.EtcdBenchmark, notes []lifecycle.Note) {
	for _, n := range notes {
		r.recordEvent(run, true, n.Reason, n.Message)
		// A namespace that is being deleted accepts no event, so the log has the note too.
		log.FromContext(ctx).Info("Note", "reason", n.Reason, "message", n.Message)
	}
}

func (r *EtcdBenchmarkReconciler) recordEvent(run *v1alpha1.EtcdBenchmark, bad bool, reason, note string) {
	kind := corev1.EventTypeNormal
	if bad {
		kind = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(run, nil, kind, reason, eventAction, "%s", text.Shorten(note, maxNote))
}

func isBad(run *v1alpha1.EtcdBenchmark, c *metav1.Condition) bool {
	if c.Type == v1alpha1.ConditionFinished {
		return c.Status == metav1.ConditionTrue && (verdict.CouldNotRun(c.Reason) || c.Reason == v1alpha1.ReasonPartlyCompleted)
	}
	return c.Status != metav1.ConditionTrue
}

// collect has the running pods scraped, and ends the scraping of a finished run.
func (r *EtcdBenchmarkReconciler) collect(o lifecycle.Observed, status *v1alpha1.EtcdBenchmarkStatus) {
	key := client.ObjectKeyFromObject(o.Run)
	if status.CompletionTime != nil {
		r.Collector.Forget(key)
		return
	}
	var pods []collector.Pod
	for _, p := range o.Pods {
		if p.State == lifecycle.PodRunning && p.IP != "" {
			pods = append(pods, collector.Pod{Name: p.Name, Index: p.Index, IP: p.IP})
		}
	}
	r.Collector.Watch(o.Run.UID, key, slices.Clip(pods))
}
