package plan

import (
	"errors"
	"fmt"
)

// WorkloadWatchGet reads keys while watchers read the past.
const WorkloadWatchGet WorkloadType = "WatchGet"

// MaxHistory bounds the events that a watcher of WorkloadWatchGet reads each time.
const MaxHistory = 10_000

// WatchGet is what the watchers of WorkloadWatchGet read. Numbers are totals over
// all pods.
type WatchGet struct {
	// Streams is how many gRPC streams carry the watchers.
	Streams           int `json:"streams"`
	WatchersPerStream int `json:"watchersPerStream"`
	// Connections are those that carry streams alone, beside the load's. With 0,
	// the streams share the load's.
	Connections int `json:"connections,omitempty"`
	// Events is how often a pod writes its key of the history before the load. Each
	// of its watchers reads that from the beginning, over and over.
	Events int `json:"events"`
}

func (w *WatchGet) validate(int64) error {
	return errors.Join(
		check(w.Streams >= 1, "workload.watchGet.streams", "at least 1", w.Streams),
		check(w.WatchersPerStream >= 1 && w.WatchersPerStream <= MaxWatchers/max(w.Streams, 1), "workload.watchGet.watchersPerStream",
			fmt.Sprintf("1 to %d, divided by the streams", MaxWatchers), w.WatchersPerStream),
		check(w.Events >= 1 && w.Events <= MaxHistory, "workload.watchGet.events", fmt.Sprintf("1 to %d", MaxHistory), w.Events),
	)
}

// validateWatchGet looks at what of it concerns more than the workload.
func (p Plan) validateWatchGet() error {
	w := p.Workload.WatchGet
	if w == nil {
		return nil
	}
	return errors.Join(
		check(w.Streams >= p.Pods, "workload.watchGet.streams", fmt.Sprintf("at least one for each of %d pods", p.Pods), w.Streams),
		checkCarriers(w.Connections, w.Streams, p.Pods, "workload.watchGet.connections"),
		check(p.Workload.KeyCount >= int64(p.Pods), "workload.keyCount", fmt.Sprintf("a key of its own for the history of each of %d pods", p.Pods), p.Workload.KeyCount),
		check(p.Workload.Serializable, "workload.serializable", "true for WatchGet", p.Workload.Serializable),
	)
}
