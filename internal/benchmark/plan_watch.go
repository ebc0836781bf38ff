package benchmark

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func planWatch(w *v1alpha1.WatchWorkload) plan.Workload {
	out := keySpace(w.KeySize, w.ValueSize, w.Keys)
	out.Values = values(w.Values, w.ValueSize)
	out.Watch = &plan.Watch{
		Streams:           int(w.Streams),
		WatchersPerStream: int(w.WatchersPerStream),
		Connections:       int(w.Connections),
		AllKeys:           w.Scope == v1alpha1.WatchScopeAllKeys,
		PrevKV:            w.PrevKV,
	}
	return out
}

func planWatchGet(w *v1alpha1.WatchGetWorkload) plan.Workload {
	out := keySpace(w.KeySize, w.ValueSize, w.Keys)
	out.Values = values(w.Values, w.ValueSize)
	out.Serializable = true
	out.WatchGet = &plan.WatchGet{
		Streams:           int(w.Streams),
		WatchersPerStream: int(w.WatchersPerStream),
		Connections:       int(w.Connections),
		Events:            int(w.Events),
	}
	return out
}

// watchSummary returns nil for a run without watchers.
func watchSummary(w results.Watch) *v1alpha1.WatchSummary {
	if w == (results.Watch{}) {
		return nil
	}
	return &v1alpha1.WatchSummary{
		Watchers:          int64(w.Watchers),
		ExpectedEvents:    int64(w.Expected),
		MissedEvents:      int64(w.Missed),
		DuplicateEvents:   int64(w.Duplicate),
		CancelledWatchers: int64(w.Cancelled),
		ResumedWatchers:   int64(w.Resumed),
		Replays:           int64(w.Replays),
	}
}

// carriers says how many connections carry nothing but watchers, if any do.
func (t *table) carriers() string {
	w, n := t.b.Resolved().Workload, int32(0)
	if w.Watch != nil {
		n = w.Watch.Connections
	}
	if w.WatchGet != nil {
		n = w.WatchGet.Connections
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %s for watchers", results.Grouped(int64(n)))
}

// watch prints what became of watchers and events, if there were any.
func (t *table) watch() {
	w := t.b.Status.Summary.Watch
	if w == nil {
		return
	}
	g := grid{left: 0}
	g.add("WATCHERS", "EXPECTED EVENTS", "MISSED", "DUPLICATE", "CANCELLED", "RESUMED", "REPLAYS")
	g.add(results.Grouped(w.Watchers), results.Grouped(w.ExpectedEvents), results.Grouped(w.MissedEvents), results.Grouped(w.DuplicateEvents),
		results.Grouped(w.CancelledWatchers), results.Grouped(w.ResumedWatchers), results.Grouped(w.Replays))
	t.section(g)
}
