package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// replaying makes a run of the workload WatchGet.
func replaying(change func(*Run)) func(*Run) {
	return func(r *Run) {
		r.Workload = spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{
			Streams: 4, WatchersPerStream: 5, Events: 8, Keys: someKeys, Values: someValues,
		}}
		change(r)
	}
}

func TestValidateRefusesAWatchGet(t *testing.T) {
	requireProblems(t, map[string]problem{
		"without its field": {func(r *Run) { r.Workload.Type = spec.WorkloadWatchGet }, "workload: wanted the field of type WatchGet"},
		"of another workload": {func(r *Run) {
			r.Workload.WatchGet = &spec.WatchGet{Streams: 1, WatchersPerStream: 1, Events: 1}
		}, "workload: wanted the field of type Put"},
		"without streams":          {replaying(func(r *Run) { r.Workload.WatchGet.Streams = 0 }), "workload.watchGet.streams"},
		"without watchers":         {replaying(func(r *Run) { r.Workload.WatchGet.WatchersPerStream = 0 }), "workload.watchGet.watchersPerStream"},
		"with too many watchers":   {replaying(func(r *Run) { r.Workload.WatchGet.WatchersPerStream = 25_001 }), "workload.watchGet.watchersPerStream"},
		"without events":           {replaying(func(r *Run) { r.Workload.WatchGet.Events = 0 }), "workload.watchGet.events"},
		"with too many events":     {replaying(func(r *Run) { r.Workload.WatchGet.Events = maxHistory + 1 }), "workload.watchGet.events"},
		"with a pod of no stream":  {replaying(func(r *Run) { r.Load.Pods, r.Load.Connections, r.Load.Clients = 5, 5, 5 }), "workload.watchGet.streams"},
		"with a pod of no carrier": {replaying(func(r *Run) { r.Workload.WatchGet.Connections = r.Load.Pods - 1 }), "workload.watchGet.connections"},
		"with a carrier of none":   {replaying(func(r *Run) { r.Workload.WatchGet.Connections = 5 }), "workload.watchGet.connections"},
		"with a pod of no key": {replaying(func(r *Run) {
			r.Load.Pods, r.Load.Connections, r.Load.Clients, r.Workload.WatchGet.Keys.Count = 2, 5, 5, 1
		}), "workload.watchGet.keys.count"},
		"over Fast": {replaying(func(r *Run) { r.Load.Transport = spec.TransportFast }), "load.transport"},
	})
}

// Together, the pods read each stream's history once. Each pod reads the history of its own key.
func TestHistoriesOfPods(t *testing.T) {
	r := valid()
	replaying(func(*Run) {})(&r)
	w, streams := New(r), 0
	for pod := range r.Pods() {
		h := w.History(pod)
		if h.Key != int64(pod) || h.Events != 8 || h.WatchersPerStream != 5 || h.Streams < 1 {
			t.Errorf("pod %d has the history %+v", pod, h)
		}
		streams += h.Streams
	}
	if streams != 4 {
		t.Errorf("%d streams have histories, wanted 4", streams)
	}
	if h := New(valid()).History(0); h != nil {
		t.Errorf("puts have the history %+v", h)
	}
}
