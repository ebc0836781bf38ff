package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
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
	announceConditions(ctx, r.Recorder, run, before.Conditions, run.Status.Conditions, before.StartTime == nil)
	r.announceSilentPods(ctx, run, before)
	if run.HasFinished() && before.CompletionTime == nil {
		runsFinished.WithLabelValues(meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished).Reason).Inc()
	}
}

// announceSilentPods records an event if pods could be scraped before and cannot now. There is one event for all of them,
// because events with the same reason about the same run are counted, and only the note of the first is kept.
func (r *EtcdBenchmarkReconciler) announceSilentPods(ctx context.Context, run *v1alpha1.EtcdBenchmark, before *v1alpha1.EtcdBenchmarkStatus) {
	silent := func(p v1alpha1.PodStatus) bool { return strings.HasPrefix(p.Message, lifecycle.NotScraped) }
	was := map[string]bool{}
	for _, p := range before.Pods {
		was[p.Name] = silent(p)
	}
	var fallen []v1alpha1.PodStatus
	for _, p := range run.Status.Pods {
		if silent(p) && !was[p.Name] {
			fallen = append(fallen, p)
			log.FromContext(ctx).Info("A client pod cannot be scraped", "pod", p.Name, "problem", p.Message)
		}
	}
	if len(fallen) == 0 {
		return
	}
	note := fmt.Sprintf("Client pod %d (%s): %s", fallen[0].Index, fallen[0].Name, fallen[0].Message)
	if len(fallen) > 1 {
		note = fmt.Sprintf("%d client pods cannot be scraped. %s. status.pods has the others.", len(fallen), strings.TrimSuffix(note, "."))
	}
	emit(r.Recorder, run, true, v1alpha1.EventPodNotScraped, note)
}

// announceConditions announces the conditions of a run or a suite.
func announceConditions(ctx context.Context, recorder events.EventRecorder, of client.Object, before, after []metav1.Condition, first bool) {
	announceKinds(ctx, recorder, of, []string{v1alpha1.ConditionFinished, v1alpha1.ConditionPassed, v1alpha1.ConditionCleaned}, before, after, first)
}

// announceKinds records an event, and a line in the log, for each of these conditions whose status or reason has changed.
// first: the operator sees the object for the first time.
func announceKinds(ctx context.Context, recorder events.EventRecorder, of client.Object, kinds []string, before, after []metav1.Condition, first bool) {
	for _, kind := range kinds {
		old, now := meta.FindStatusCondition(before, kind), meta.FindStatusCondition(after, kind)
		if now == nil || !first && old != nil && old.Status == now.Status && old.Reason == now.Reason {
			continue
		}
		emit(recorder, of, isBad(now), now.Reason, now.Message)
		log.FromContext(ctx).Info("Condition changed", "condition", kind, "status", now.Status, "reason", now.Reason, "message", now.Message)
	}
}

// note records events that no condition reports, before the object may be gone.
func (r *EtcdBenchmarkReconciler) note(ctx context.Context, run *v1alpha1.EtcdBenchmark, notes []lifecycle.Note) {
	for _, n := range notes {
		emit(r.Recorder, run, true, n.Reason, n.Message)
		// A namespace that is being deleted accepts no event, so the log has the note too.
		log.FromContext(ctx).Info("Note", "reason", n.Reason, "message", n.Message)
	}
}

func emit(recorder events.EventRecorder, about client.Object, bad bool, reason, note string) {
	kind := corev1.EventTypeNormal
	if bad {
		kind = corev1.EventTypeWarning
	}
	recorder.Eventf(about, nil, kind, reason, eventAction, "%s", text.Shorten(note, maxNote))
}

func isBad(c *metav1.Condition) bool {
	switch c.Type {
	case v1alpha1.ConditionFinished:
		return c.Status == metav1.ConditionTrue && (verdict.CouldNotRun(c.Reason) || c.Reason == v1alpha1.ReasonPartlyCompleted)
	case v1alpha1.ConditionStalled, v1alpha1.ConditionSuspect, v1alpha1.ConditionTrendBroken:
		return c.Status == metav1.ConditionTrue
	}
	return c.Status != metav1.ConditionTrue
}

// collect has the running pods scraped, and ends the scraping of a finished run.
func (r *EtcdBenchmarkReconciler) collect(o lifecycle.Observed, status *v1alpha1.EtcdBenchmarkStatus) {
	key := client.ObjectKeyFromObject(o.Run)
	if status.CompletionTime != nil {
		r.stopReading(key)
		return
	}
	pods, phase := scraped(o.Pods, status)
	r.Collector.Watch(o.Run.UID, key, pods, phase)
}

// stopReading ends what the operator reads for a run in the background.
func (r *EtcdBenchmarkReconciler) stopReading(key types.NamespacedName) {
	r.Collector.Forget(key)
	if r.Kubelets != nil {
		r.Kubelets.Forget(key)
	}
}

// scraped returns the pods of a run to scrape, and what the run waits for.
func scraped(all []lifecycle.Pod, status *v1alpha1.EtcdBenchmarkStatus) (pods []collector.Pod, phase collector.Phase) {
	for _, p := range all {
		if p.State == lifecycle.PodRunning && p.IP != "" {
			pods = append(pods, collector.Pod{Name: p.Name, Index: p.Index, IP: p.IP})
		}
	}
	phase.Ends = status.Ending != nil
	if status.StartAt != nil {
		phase.Start = status.StartAt.Time
	}
	return slices.Clip(pods), phase
}
