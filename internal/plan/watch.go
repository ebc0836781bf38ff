package plan

import (
	"errors"
	"fmt"
)

// WorkloadWatch puts keys that are watched.
const WorkloadWatch WorkloadType = "Watch"

// MaxWatchers bounds the watchers of a run over all pods.
const MaxWatchers = 100_000

// MinMarkedValue is the length of the shortest value that can say who has put
// it, as those of WorkloadWatch do.
const MinMarkedValue = 16

// Watch is what WorkloadWatch watches. Numbers are totals over all pods.
type Watch struct {
	// Streams is how many gRPC streams carry the watchers.
	Streams           int `json:"streams"`
	WatchersPerStream int `json:"watchersPerStream"`
	// Connections are those that carry streams alone, beside the load's. With 0,
	// the streams share the load's.
	Connections int `json:"connections,omitempty"`
	// AllKeys lets each watcher watch all keys; else watcher w watches key w
	// modulo KeyCount.
	AllKeys bool `json:"allKeys,omitempty"`
	// PrevKV asks for the previous value with each event.
	PrevKV bool `json:"prevKV,omitempty"`
}

// Streams returns the numbers of the streams that are this pod's, of so many
// over all pods: those that are its index modulo pods.
func (p Part) Streams(all int) []int { return p.every(all) }

// Carriers returns the numbers of this pod's connections that carry streams and
// nothing else. They are shared out as streams are, so that each carries one.
func (p Part) Carriers() []int { return p.every(p.carriers) }

func (p Part) every(all int) []int {
	var own []int
	for s := p.Index; s < all; s += p.Pods {
		own = append(own, s)
	}
	return own
}

// checkCarriers looks at how many connections carry so many streams and nothing
// else: none, or some for each pod.
func checkCarriers(connections, streams, pods int, field string) error {
	return check(connections == 0 || connections >= pods && connections <= streams, field,
		fmt.Sprintf("0, or at least one for each of %d pods and at most one for each of %d streams", pods, streams), connections)
}

// carriers is how many connections carry nothing but watchers.
func (w Workload) carriers() int {
	switch {
	case w.Watch != nil:
		return w.Watch.Connections
	case w.WatchGet != nil:
		return w.WatchGet.Connections
	default:
		return 0
	}
}

func (w *Watch) validate(int64) error {
	return errors.Join(
		check(w.Streams >= 1, "workload.watch.streams", "at least 1", w.Streams),
		check(w.WatchersPerStream >= 1 && w.WatchersPerStream <= MaxWatchers/max(w.Streams, 1), "workload.watch.watchersPerStream",
			fmt.Sprintf("1 to %d, divided by the streams", MaxWatchers), w.WatchersPerStream),
	)
}

// validateWatch looks at what of watches concerns more than the workload.
func (p Plan) validateWatch() error {
	w := p.Workload
	if w.Watch == nil {
		return nil
	}
	return errors.Join(
		check(w.Watch.Streams >= p.Pods, "workload.watch.streams", fmt.Sprintf("at least one for each of %d pods", p.Pods), w.Watch.Streams),
		checkCarriers(w.Watch.Connections, w.Watch.Streams, p.Pods, "workload.watch.connections"),
		check(w.ValueSize-w.Values.Spread >= MinMarkedValue, "workload.valueSize",
			fmt.Sprintf("at least %d for the shortest value, which says who has put it", MinMarkedValue), w.ValueSize-w.Values.Spread),
	)
}
