package plan

import "math"

// Guard says what a run may do to its target.
type Guard struct {
	// AcknowledgeControlPlane lets it load an etcd that holds a Kubernetes API
	// server's objects.
	AcknowledgeControlPlane bool `json:"acknowledgeControlPlane,omitempty"`
	// MaxFreeQuotaPercent is how much of what its quota leaves free in a
	// member's database it may be expected to write; 0 is any amount.
	MaxFreeQuotaPercent int `json:"maxFreeQuotaPercent,omitempty"`
	// AllowStoreWide lets disturbances concern the whole store.
	AllowStoreWide bool `json:"allowStoreWide,omitempty"`
	// StopOn is what ends it while it goes on.
	StopOn StopRules `json:"stopOn,omitzero"`
}

// How etcd's database, a B+ tree of pages, takes what is appended to it.
const (
	pageBytes = 4096
	// filledBytes of a page are used before the next one is begun.
	filledBytes = pageBytes * 9 / 10
	// entryOverhead is what lies beside key and value: the revision, the
	// fields of their message, and their place in the page.
	entryOverhead = 64
	// stormKeyBytes is about the length of a storm's key after the prefix.
	stormKeyBytes = 24
)

// WriteEstimate returns how many bytes the run is expected to add to each
// member's database, where nothing is compacted while it runs. Values whose
// lengths differ count with the mean. It is false where the plan does not tell:
// how much a closed loop writes in a time is what a benchmark finds out. Where
// WritesMore, it is the least that will be written.
func (p Plan) WriteEstimate() (bytes int64, ok bool) {
	preloaded, writes, ok := p.writes()
	if !ok {
		return 0, false
	}
	key := len(p.Prefix) + p.Workload.KeySize
	if p.Workload.isContest() {
		key = len(p.ContestKey(0))
	}
	lengths := p.Workload.Lengths()
	entry := lengths.mean(func(value int) float64 { return entryBytes(key + value) })
	estimate := (preloaded + writes) * entry
	if p.Workload.Type == WorkloadDelete {
		// What a deletion leaves has no value.
		estimate = preloaded*entry + writes*entryBytes(key)
	}
	if k := p.Workload.Kubernetes; k != nil {
		estimate = k.writeEstimate(len(p.Prefix), writes)
	}
	storms, ok := p.storms()
	// A key of a storm is written, and deleted when its lease expires.
	estimate += float64(storms*p.StormKeys()) * 2 * entryBytes(len(p.Prefix)+stormKeyBytes)
	return int64(min(estimate, math.MaxInt64/2)), ok
}

// writes are those of the preload and those of the load.
func (p Plan) writes() (preloaded, writes float64, ok bool) {
	requests, ok := p.Load.expectedRequests()
	keys := float64(p.Workload.KeyCount)
	switch p.Workload.Type {
	case WorkloadPut:
		return 0, requests, ok
	case WorkloadRange:
		return keys, 0, true
	case WorkloadKubernetes:
		return 0, requests, ok
	case WorkloadWatchGet:
		return keys + float64(p.Pods*p.Workload.WatchGet.Events), 0, true
	case WorkloadDelete, WorkloadWatch:
		return keys, requests, ok
	case WorkloadTxn:
		if p.Workload.Txn.CompareAndSwap() {
			return keys, requests, ok
		}
		return 0, requests * float64(p.Workload.Txn.Puts), ok
	case WorkloadSTM:
		return keys, requests * p.Workload.STM.entries(), ok
	case WorkloadLock, WorkloadElection:
		// A key that is written and deleted.
		return 0, 2 * requests, ok
	case WorkloadMixed:
		return keys, requests * float64(100-p.Workload.ReadsPerHundred) / 100, ok
	}
	return 0, 0, false
}

// expectedRequests of warm-up and window, where WritesMore of the window alone;
// false if only the target decides them.
func (l Load) expectedRequests() (requests float64, ok bool) {
	warmup := float64(l.WarmupRatePerSecond()) * float64(l.WarmupSeconds)
	switch rate := float64(l.RatePerSecond); {
	case len(l.Stages) > 0:
		return warmup + l.stagedRequests(), true
	case rate > 0 && l.Requests > 0:
		return warmup + float64(l.Requests), true
	case rate > 0:
		return warmup + rate*float64(l.DurationSeconds), true
	}
	return float64(l.Requests), l.Requests > 0
}

// WritesMore says whether a run with a WriteEstimate writes more than that: a
// closed loop bound by requests warms up for a time, with as many more as the
// target answers.
func (p Plan) WritesMore() bool {
	l := p.Load
	return l.Requests > 0 && l.WarmupSeconds > 0 && l.RatePerSecond == 0 && len(l.Stages) == 0
}

func (l Load) stagedRequests() (requests float64) {
	for _, s := range l.Stages {
		requests += float64(s.FromPerSecond+s.ToPerSecond) / 2 * float64(s.Seconds)
	}
	return requests
}

// entryBytes is what an entry takes of the pages that it shares or fills.
func entryBytes(content int) float64 {
	entry := content + entryOverhead
	if perPage := filledBytes / entry; perPage > 0 {
		return pageBytes / float64(perPage)
	}
	return pageBytes * math.Ceil(float64(entry)/pageBytes)
}
