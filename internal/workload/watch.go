package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// watch describes the watchers of the load. Numbers are totals over all pods.
type watch struct {
	// streams is the number of streams. Each carries watchersPerStream watchers.
	streams, watchersPerStream int
	// connections is how many connections carry only streams. With 0, the streams share the load's connections.
	connections int
	// marked: the watched values identify the pod that put them.
	marked bool
	// history is how many past events each watcher reads, over and over; 0 if watchers read new events.
	history int
}

// check wants streams, and separate connections if any, for each pod.
func (w watch) check(r *Run, field string) []error {
	pods := r.Pods()
	return []error{
		Wanted(w.streams >= max(pods, 1), field+".streams", fmt.Sprintf("at least one for each of %d pods", pods), w.streams),
		Wanted(w.watchersPerStream >= 1 && w.watchersPerStream <= spec.MaxWatchers/max(w.streams, 1), field+".watchersPerStream",
			fmt.Sprintf("1 to %d, divided by the streams", spec.MaxWatchers), w.watchersPerStream),
		Wanted(w.connections == 0 || w.connections >= pods && w.connections <= w.streams, field+".connections",
			fmt.Sprintf("0, or at least one for each of %d pods and at most one for each of %d streams", pods, w.streams), w.connections),
	}
}

// watched puts keys that are watched.
type watched struct {
	keyed
	settings spec.Watch
}

func newWatch(w spec.Workload) kind {
	return watched{keyed{space: w.Watch.Keys, stored: w.Watch.Values}, *w.Watch}
}

func (watched) operations() []spec.Operation {
	return []spec.Operation{spec.OperationPut, spec.OperationWatchEvent, spec.OperationWatchDelivery}
}

func (watched) at(w *Workload, stream Stream, n int64) Operation {
	op := Write(w.key(stream, n), n)
	op.Watched = op.Key + 1
	return op
}

func (k watched) growth(r *Run) (preload, request float64, known bool) {
	return float64(k.space.Count) * k.entry(r), k.entry(r), true
}

func (k watched) watch() *watch {
	s := k.settings
	return &watch{streams: int(s.Streams), watchersPerStream: int(s.WatchersPerStream), connections: int(s.Connections), marked: true}
}

func (k watched) check(r *Run) []error {
	errs := append(k.keyed.check(r), k.watch().check(r, "workload.watch")...)
	return append(errs, oneOf("workload.watch.scope", k.settings.Scope, spec.WatchScopeKey, spec.WatchScopeAllKeys), Wanted(k.stored.Shortest() >= spec.MinMarkedValue, "workload.watch.values",
		fmt.Sprintf("at least %d bytes for the shortest value, which says which pod has put it", spec.MinMarkedValue), k.stored.Shortest()))
}

func (k watched) words() Words {
	words := k.base.words()
	words.Names = map[spec.Operation]string{spec.OperationPut: "WATCH-LATENCY-PUT", spec.OperationWatchDelivery: "WATCH-LATENCY-WATCH"}
	return words
}

// Watcher describes one watcher of a load.
type Watcher struct {
	// What is the Operation.Watched of the puts that it receives; 0 means all.
	What int64
	// Key is the first watched key, and End the key after the last one; End is empty for one key.
	Key, End []byte
	// PrevKV requests the previous value with each event.
	PrevKV bool
	// Reflect makes the watcher behave like those of API servers: it begins with a list of the existing keys, requests
	// progress notifications, and is cancelled while there is no leader.
	Reflect bool
}

// watcher returns the watcher with this global number.
func (k watched) watcher(w *Workload, number int) Watcher {
	out := Watcher{PrevKV: k.settings.PrevKV}
	if k.settings.Scope == spec.WatchScopeAllKeys {
		out.Key, out.End = w.AppendKey(nil, 0), append(w.AppendKey(nil, k.space.Count-1), 0)
		return out
	}
	key := int64(number) % k.space.Count
	out.What, out.Key = key+1, w.AppendKey(nil, key)
	return out
}

// watchers are spread over pods by the numbers of their streams.
func (k watched) watchers(w *Workload, pod int) (all [][]Watcher) {
	for stream := pod; stream < int(k.settings.Streams); stream += w.run.Pods() {
		watchers := make([]Watcher, k.settings.WatchersPerStream)
		for i := range watchers {
			watchers[i] = k.watcher(w, stream*len(watchers)+i)
		}
		all = append(all, watchers)
	}
	return all
}

// Watchers returns a pod's watchers, by stream.
func (w *Workload) Watchers(pod int) [][]Watcher { return w.kind.watchers(w, pod) }
