package process

import (
	"math"
	"runtime/metrics"
	"time"
)

// Names of the Go runtime's metrics.
const (
	metricDelays     = "/sched/latencies:seconds"
	metricCollection = "/cpu/classes/gc/total:cpu-seconds"
	metricIdle       = "/cpu/classes/idle:cpu-seconds"
	metricTotal      = "/cpu/classes/total:cpu-seconds"
)

// runtimeReading has the Go runtime's counts since the process began.
type runtimeReading struct {
	// counts of delays of runnable goroutines: counts[i] lies between bounds[i] and bounds[i+1], in seconds.
	counts []uint64
	bounds []float64
	// collection, idle and total are processor seconds. The runtime estimates them at each garbage collection.
	collection, idle, total float64
}

func readRuntime() runtimeReading {
	samples := []metrics.Sample{{Name: metricDelays}, {Name: metricCollection}, {Name: metricIdle}, {Name: metricTotal}}
	metrics.Read(samples)
	r := runtimeReading{collection: seconds(samples[1]), idle: seconds(samples[2]), total: seconds(samples[3])}
	if samples[0].Value.Kind() == metrics.KindFloat64Histogram {
		h := samples[0].Value.Float64Histogram()
		r.counts, r.bounds = h.Counts, h.Buckets
	}
	return r
}

func seconds(s metrics.Sample) float64 {
	if s.Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return s.Value.Float64()
}

// delayP99 is the 99th percentile of the delays since an earlier reading, by nearest rank, at the geometric middle of
// its bucket; 0 if there were none.
func (r runtimeReading) delayP99(earlier runtimeReading) time.Duration {
	rose, total := r.since(earlier)
	rank := uint64(math.Ceil(0.99 * float64(total)))
	for i, n := range rose {
		if rank <= n && n > 0 {
			return time.Duration(middle(r.bounds[i], r.bounds[i+1]) * float64(time.Second))
		}
		rank -= n
	}
	return 0
}

// delays adds up the delays since an earlier reading, each at the geometric middle of its bucket, and counts them.
func (r runtimeReading) delays(earlier runtimeReading) (total time.Duration, count uint64) {
	sum := 0.0
	rose, count := r.since(earlier)
	for i, n := range rose {
		if n > 0 {
			sum += float64(n) * middle(r.bounds[i], r.bounds[i+1])
		}
	}
	return time.Duration(sum * float64(time.Second)), count
}

// since returns how many delays each bucket got after an earlier reading, and their total.
func (r runtimeReading) since(earlier runtimeReading) (rose []uint64, total uint64) {
	rose = make([]uint64, len(r.counts))
	for i := range r.counts {
		rose[i] = r.counts[i]
		if i < len(earlier.counts) {
			rose[i] -= earlier.counts[i]
		}
		total += rose[i]
	}
	return rose, total
}

// middle returns the geometric middle of a bucket. The outermost buckets have only one bound.
func middle(low, high float64) float64 {
	switch {
	case math.IsInf(high, 1):
		return low
	case low <= 0:
		return max(high, 0)
	}
	return math.Sqrt(low * high)
}

// collectionShare is the share of processor time that was spent on garbage collection. The runtime updates its estimate
// at each collection, so without a collection the share is unknown.
func (r runtimeReading) collectionShare(earlier runtimeReading) (float64, bool) {
	busy := (r.total - r.idle) - (earlier.total - earlier.idle)
	if busy <= 0 {
		return 0, false
	}
	return min(max((r.collection-earlier.collection)/busy, 0), 1), true
}
