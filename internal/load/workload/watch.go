package workload

import "github.com/etcdbench/etcd-benchmark-operator/internal/plan"

// WatchedKey returns the number of the key that a watcher watches, by its
// number among those of all pods. It is false for one that watches all keys.
func (w *Workload) WatchedKey(watcher int) (key int64, one bool) {
	if w.plan.Watch.AllKeys {
		return 0, false
	}
	return int64(watcher) % w.plan.KeyCount, true
}

// Watchers returns, for each of a pod's streams, the numbers of its watchers
// among those of all pods.
func (w *Workload) Watchers(part plan.Part) [][]int {
	var all [][]int
	for _, stream := range part.Streams(w.plan.Watch.Streams) {
		watchers := make([]int, w.plan.Watch.WatchersPerStream)
		for i := range watchers {
			watchers[i] = stream*len(watchers) + i
		}
		all = append(all, watchers)
	}
	return all
}

// AppendAfterLast appends the key that follows the last one.
func (w *Workload) AppendAfterLast(dst []byte) []byte {
	return append(w.AppendKey(dst, w.plan.KeyCount-1), 0)
}
