package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// maxHistory limits the events that a watcher reads each time.
const maxHistory = 10_000

// watchGet reads one key with each request, while watchers read past events.
type watchGet struct {
	keyed
	settings spec.WatchGet
}

func newWatchGet(w spec.Workload) kind {
	return watchGet{keyed{space: w.WatchGet.Keys, stored: w.WatchGet.Values}, *w.WatchGet}
}

func (watchGet) operations() []spec.Operation { return []spec.Operation{spec.OperationRange} }

func (watchGet) at(w *Workload, stream Stream, n int64) Operation { return get1(w, stream, n) }

func (k watchGet) growth(r *Run) (preload, request float64, known bool) {
	written := k.space.Count + int64(r.Pods())*int64(k.settings.Events)
	return float64(written) * k.entry(r), 0, true
}

func (watchGet) consistency() spec.Consistency { return spec.Serializable }

func (k watchGet) watch() *watch {
	s := k.settings
	return &watch{streams: int(s.Streams), watchersPerStream: int(s.WatchersPerStream), connections: int(s.Connections), history: int(s.Events)}
}

func (k watchGet) check(r *Run) []error {
	errs := append(k.keyed.check(r), k.watch().check(r, "workload.watchGet")...)
	return append(errs,
		Wanted(k.settings.Events >= 1 && k.settings.Events <= maxHistory, "workload.watchGet.events", fmt.Sprintf("1 to %d", maxHistory), k.settings.Events),
		Wanted(k.space.Count >= int64(r.Pods()), "workload.watchGet.keys.count", fmt.Sprintf("a key of its own for the history of each of %d pods", r.Pods()), k.space.Count),
	)
}

func (k watchGet) words() Words {
	words := k.base.words()
	words.Names = map[spec.Operation]string{spec.OperationRange: "WATCH-GET"}
	return words
}

// History describes the past events that a pod's watchers read, over and over.
type History struct {
	// Events is how often the pod writes the key with this number.
	Events int
	Key    int64
	// Streams is the number of streams. Each carries WatchersPerStream watchers.
	Streams, WatchersPerStream int
}

// History returns the history of a pod; nil if there is none.
func (w *Workload) History(pod int) *History {
	of := w.kind.watch()
	if of == nil || of.history == 0 {
		return nil
	}
	return &History{
		Events: of.history, Key: int64(pod), WatchersPerStream: of.watchersPerStream,
		Streams: int(CountModulo(int64(of.streams), w.run.Pods(), pod)),
	}
}
