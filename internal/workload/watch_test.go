package workload

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// watching makes a run of the workload Watch.
func watching(change func(*Run)) func(*Run) {
	return func(r *Run) {
		r.Workload = spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{
			Scope: spec.WatchScopeKey, Streams: 4, WatchersPerStream: 5, Keys: someKeys, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 16},
		}}
		change(r)
	}
}

// watchWorkload is a workload of two pods.
func watchWorkload(s spec.Watch, keys int64) *Workload {
	s.Keys, s.Values = spec.Keys{Count: keys, SizeBytes: 4, Distribution: spec.Sequential}, spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 40}
	return New(Run{
		Prefix: "p/", Load: spec.Load{Pods: 2, Seed: 5, Connections: 2, Clients: 2, Requests: new(int64(10))},
		Workload: spec.Workload{Type: spec.WorkloadWatch, Watch: &s},
	})
}

func TestAMarkSurvivesInAValue(t *testing.T) {
	w := watchWorkload(spec.Watch{Scope: spec.WatchScopeKey, Streams: 2, WatchersPerStream: 1}, 3)
	op := w.At(Measured, 1<<40)
	value := w.AppendMarked([]byte("x"), op, 77)
	got, ok := MarkOf(value[1:])
	if want := (Mark{Stream: Measured, Pod: 77, Sequence: 1 << 40}); !ok || got != want {
		t.Errorf("got the mark %+v (%v), wanted %+v", got, ok, want)
	}
	if len(value) != 41 || !bytes.Equal(value[17:], w.Value(op.Value)[16:]) {
		t.Errorf("the value %x is not %x behind its mark", value[1:], w.Value(op.Value))
	}
	if _, ok := MarkOf(value[:15]); ok {
		t.Error("15 bytes have a mark")
	}
}

// Together, the pods have each watcher once, and watcher w watches key w modulo the keys.
func TestWatchersOfPods(t *testing.T) {
	one := func(w *Workload, key int64) Watcher { return Watcher{What: key + 1, Key: w.AppendKey(nil, key)} }
	for keys, want := range map[int64][][][]int64{
		6: {{{0, 1}, {4, 5}}, {{2, 3}}},
		4: {{{0, 1}, {0, 1}}, {{2, 3}}},
	} {
		w := watchWorkload(spec.Watch{Scope: spec.WatchScopeKey, Streams: 3, WatchersPerStream: 2}, keys)
		for pod, streams := range want {
			var watchers [][]Watcher
			for _, keys := range streams {
				watchers = append(watchers, []Watcher{one(w, keys[0]), one(w, keys[1])})
			}
			if diff := cmp.Diff(watchers, w.Watchers(pod)); diff != "" {
				t.Errorf("watchers of pod %d, %d keys (-want +got):\n%s", pod, keys, diff)
			}
		}
	}
}

// Watchers of all keys cover the first key and the last one, and their events are matched without a key.
func TestWatchersOfAllKeys(t *testing.T) {
	w := watchWorkload(spec.Watch{Streams: 1, WatchersPerStream: 1, Scope: spec.WatchScopeAllKeys, PrevKV: true}, 4)
	want := [][]Watcher{{{Key: []byte("p/0000"), End: []byte("p/0003\x00"), PrevKV: true}}}
	if diff := cmp.Diff(want, w.Watchers(0)); diff != "" {
		t.Errorf("watchers (-want +got):\n%s", diff)
	}
}

func TestEachStreamBelongsToOnePod(t *testing.T) {
	r := valid()
	watching(func(r *Run) { r.Workload.Watch.Streams, r.Workload.Watch.WatchersPerStream = 10, 1 })(&r)
	w := New(r)
	var all []int64
	for pod := range r.Pods() {
		own := w.Watchers(pod)
		if len(own) < 3 {
			t.Errorf("pod %d has the streams %v of 10, wanted 3 at least", pod, own)
		}
		for _, stream := range own {
			all = append(all, stream[0].What-1)
		}
	}
	slices.Sort(all)
	if want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(all, want) {
		t.Errorf("the pods have the streams %v, wanted %v", all, want)
	}
}

func TestValidateRefusesAWatch(t *testing.T) {
	requireProblems(t, map[string]problem{
		"without its field": {func(r *Run) { r.Workload.Type = spec.WorkloadWatch }, "workload: wanted the field of type Watch"},
		"of another workload": {func(r *Run) {
			r.Workload.Watch = &spec.Watch{Scope: spec.WatchScopeKey, Streams: 1, WatchersPerStream: 1}
		}, "workload: wanted the field of type Put"},
		"without streams":               {watching(func(r *Run) { r.Workload.Watch.Streams = 0 }), "workload.watch.streams"},
		"without watchers":              {watching(func(r *Run) { r.Workload.Watch.WatchersPerStream = 0 }), "workload.watch.watchersPerStream"},
		"with too many watchers":        {watching(func(r *Run) { r.Workload.Watch.WatchersPerStream = 25_001 }), "workload.watch.watchersPerStream"},
		"with a pod that has no stream": {watching(func(r *Run) { r.Load.Pods, r.Load.Connections, r.Load.Clients = 5, 5, 5 }), "workload.watch.streams"},
		"with a pod without a carrier":  {watching(func(r *Run) { r.Workload.Watch.Connections = r.Load.Pods - 1 }), "workload.watch.connections"},
		"with a carrier of nothing":     {watching(func(r *Run) { r.Workload.Watch.Connections = 5 }), "workload.watch.connections"},
		"with values too short":         {watching(func(r *Run) { r.Workload.Watch.Values.SizeBytes = 15 }), "workload.watch.values"},
		"with some values too short":    {watching(func(r *Run) { r.Workload.Watch.Values = uniformly(15, 20) }), "workload.watch.values"},
		"over Fast":                     {watching(func(r *Run) { r.Load.Transport = spec.TransportFast }), "load.transport"},
	})
}
