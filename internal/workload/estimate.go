package workload

import (
	"math"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// How etcd's database, a B+ tree of pages, takes what is appended to it.
const (
	pageBytes = 4096
	// filledBytes of a page are used before the next one is begun.
	filledBytes = pageBytes * 9 / 10
	// entryOverhead is what lies beside key and value: the revision, the
	// fields of their message, and their place in the page.
	entryOverhead = 64
	// stormKeyBytes is about the length of a key that expires, after the prefix.
	stormKeyBytes = 24
)

// WriteEstimate returns how many bytes the run is expected to add to each
// member's database, where nothing is compacted while it runs. Values whose
// lengths differ count with the mean. It is false where the run does not tell:
// how much a closed loop writes in a time is what a benchmark finds out. Where
// WritesMore, it is the least that will be written.
func (r *Run) WriteEstimate() (bytes int64, ok bool) {
	preload, request, known := r.kind().growth(r)
	requests, ok := expectedRequests(r.Load)
	if !known || !ok && request > 0 {
		return 0, false
	}
	storms, ok := r.storms()
	// A key that expires is written, and deleted with its lease.
	expiring := float64(storms*r.StormKeys()) * 2 * entryBytes(len(r.Prefix)+stormKeyBytes)
	return int64(min(preload+requests*request+expiring, math.MaxInt64/2)), ok
}

// WritesMore says whether a run with a WriteEstimate writes more than that: a
// closed loop bound by requests warms up for a time, with as many more as the
// target answers.
func (r *Run) WritesMore() bool {
	return r.Load.Requests != nil && r.Load.WarmupSeconds > 0 && !r.Load.OpenLoop()
}

// expectedRequests of warm-up and window, where WritesMore of the window alone;
// false if only the target decides them.
func expectedRequests(l spec.Load) (requests float64, ok bool) {
	if !l.OpenLoop() {
		return float64(l.RequestBound()), l.Requests != nil
	}
	requests = float64(l.WarmupPerSecond()) * float64(l.WarmupSeconds)
	stretches := l.Stretches()
	for _, s := range stretches {
		requests += float64(s.From+s.To) / 2 * float64(s.Seconds)
	}
	switch {
	case len(stretches) > 0:
		return requests, true
	case l.Requests != nil:
		return requests + float64(*l.Requests), true
	}
	return requests + float64(l.Rate.PerSecond)*l.Duration().Seconds(), true
}

// keyBytes is the length of a key with the run's prefix.
func (k keyed) keyBytes(r *Run) int { return len(r.Prefix) + int(k.space.SizeBytes) }

// entry is what a key with its value takes, on average.
func (k keyed) entry(r *Run) float64 {
	lengths, key := newLengths(k.stored), k.keyBytes(r)
	return lengths.mean(func(value int) float64 { return entryBytes(key + value) })
}

// entryBytes is what an entry takes of the pages that it shares or fills.
func entryBytes(content int) float64 {
	entry := content + entryOverhead
	if perPage := filledBytes / entry; perPage > 0 {
		return pageBytes / float64(perPage)
	}
	return pageBytes * math.Ceil(float64(entry)/pageBytes)
}
