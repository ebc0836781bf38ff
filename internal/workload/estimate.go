package workload

import (
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// How appended entries fill etcd's database, a B+ tree of pages.
const (
	pageBytes = 4096
	// filledBytes of a page are used before the next page begins.
	filledBytes = pageBytes * 9 / 10
	// entryOverhead is the size of an entry beside key and value: the revision, the fields of the message, and the
	// place in the page.
	entryOverhead = 64
	// stormKeyBytes is the approximate length of an expiring key, after the prefix.
	stormKeyBytes = 24
)

// WriteEstimate returns how many bytes the run is expected to add to each member's database if nothing is compacted
// meanwhile. Values of different lengths count with their mean. ok is false if it cannot be estimated: how much a
// closed loop writes in a given time depends on the target. If WritesMore, the estimate is a lower bound.
func (r *Run) WriteEstimate() (bytes int64, ok bool) {
	preload, request, known := r.kind().growth(r)
	requests, ok := expectedRequests(r.Load)
	if !known || !ok && request > 0 {
		return 0, false
	}
	storms, ok := r.storms()
	// An expiring key is written, and deleted with its lease.
	expiring := float64(storms*r.StormKeys()) * 2 * entryBytes(len(r.Prefix)+stormKeyBytes)
	return int64(min(preload+requests*request+expiring, math.MaxInt64/2)), ok
}

// Content returns how many bytes the keys of the run, and their values, have at most at one time.
func (r *Run) Content() int64 {
	k := r.kind()
	keys := k.keys()
	count := float64(keys.Count)
	if requests, ok := expectedRequests(r.Load); ok && k.preload(r) == 0 {
		count = min(count, requests*float64(max(k.several(), 1)))
	}
	lengths := newLengths(k.values())
	value := lengths.mean(func(value int) float64 { return float64(value) })
	return int64(count * (float64(len(r.Prefix)+int(keys.SizeBytes)) + value))
}

// WritesMore reports whether a run with a WriteEstimate writes more than the estimate: in a closed loop bound by
// requests, the target decides how many requests the warm-up adds.
func (r *Run) WritesMore() bool {
	return r.Load.Requests != nil && r.Load.WarmupSeconds > 0 && !r.Load.OpenLoop()
}

// expectedRequests returns the requests of warm-up and window; if WritesMore, only those of the window. ok is false if
// the target decides the number.
func expectedRequests(l spec.Load) (requests float64, ok bool) {
	if !l.OpenLoop() {
		return float64(l.RequestBound()), l.Requests != nil
	}
	requests = float64(l.WarmupPerSecond()) * float64(l.WarmupSeconds)
	stages := l.Stages()
	for _, s := range stages {
		requests += float64(s.From+s.To) / 2 * float64(s.Seconds)
	}
	switch {
	case len(stages) > 0:
		return requests, true
	case l.Requests != nil:
		return requests + float64(*l.Requests), true
	}
	return requests + float64(l.Rate.PerSecond)*l.Duration().Seconds(), true
}

// keyBytes is the length of a key with the run's prefix.
func (k keyed) keyBytes(r *Run) int { return len(r.Prefix) + int(k.space.SizeBytes) }

// entry returns the mean size in the database of a key with its value.
func (k keyed) entry(r *Run) float64 {
	lengths, key := newLengths(k.stored), k.keyBytes(r)
	return lengths.mean(func(value int) float64 { return entryBytes(key + value) })
}

// entryBytes returns the size of an entry in the pages that it shares or fills.
func entryBytes(content int) float64 {
	entry := content + entryOverhead
	if perPage := filledBytes / entry; perPage > 0 {
		return pageBytes / float64(perPage)
	}
	return pageBytes * math.Ceil(float64(entry)/pageBytes)
}
