package wire

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// family is one metric family: write encodes it from a snapshot, read decodes one of its metrics into a snapshot.
type family struct {
	name, help string
	kind       dto.MetricType
	labels     []string
	write      func(s *results.Snapshot, emit func(metric))
	read       func(s *results.Snapshot, m metric) error
}

// metric is one metric of a family. The minimum, maximum and sum of squares of a histogram are separate metrics.
type metric struct {
	// labels are the values of family.labels, in that order.
	labels []string
	// value of a gauge or a counter.
	value     float64
	histogram *results.Histogram
}

// families are all families of a snapshot, in encoding order.
var families = slices.Concat(
	podFamilies(), windowFamilies(), operationFamilies(), watchFamilies(), burstFamilies(), disturbanceFamilies(), timelineFamilies(),
	targetFamilies(), figureFamilies(), processFamilies(), guardFamilies(), unobservedFamilies(), diagnosisFamilies(),
)

var familiesByName = func() map[string]*family {
	byName := make(map[string]*family, len(families))
	for i := range families {
		byName[families[i].name] = &families[i]
	}
	return byName
}()

// Families encodes the snapshot as Prometheus metric families, with classic buckets beside the native histograms. Times
// are truncated to microseconds. Texts are truncated and cleaned of unprintable characters. Sums above 2^51 ns (26
// days) are rounded to 53 bits. All other values are exact. The course is missing; see MarshalCourse.
func Families(s *results.Snapshot) []*dto.MetricFamily {
	return encode(withoutCourse(s), classicHistogram)
}

// Gatherer gathers the result of snapshot at each scrape. snapshot must be safe for concurrent use and must return a
// snapshot that does not change any more.
func Gatherer(snapshot func() *results.Snapshot) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return Served(snapshot()), nil })
}

// Served encodes the snapshot as a pod serves it: like Families, but the counts of native buckets are packed. They are in
// no field of the Go types; see packCounts.
func Served(s *results.Snapshot) []*dto.MetricFamily {
	return encode(withoutCourse(s), func(h *results.Histogram) *dto.Histogram { return packCounts(classicHistogram(h)) })
}

func withoutCourse(s *results.Snapshot) *results.Snapshot {
	served := *s
	served.Timeline = results.Timeline{}
	return &served
}

// encode builds the families that have at least one metric.
func encode(s *results.Snapshot, build histogramBuilder) []*dto.MetricFamily {
	var all []*dto.MetricFamily
	for i := range families {
		if mf := families[i].encode(s, build); len(mf.Metric) > 0 {
			all = append(all, mf)
		}
	}
	return all
}

// encode drops a metric whose labels repeat those of another one, because one duplicate makes the whole scrape invalid.
func (f *family) encode(s *results.Snapshot, build histogramBuilder) *dto.MetricFamily {
	mf := &dto.MetricFamily{Name: &f.name, Help: &f.help, Type: &f.kind}
	seen := map[string]bool{}
	f.write(s, func(m metric) {
		m.labels = cleanAll(m.labels)
		if key := labelKey(m.labels); !seen[key] {
			seen[key] = true
			mf.Metric = append(mf.Metric, f.encodeMetric(m, build))
		}
	})
	return mf
}

func (f *family) encodeMetric(m metric, build histogramBuilder) *dto.Metric {
	out := &dto.Metric{Label: f.labelPairs(m.labels)}
	switch f.kind {
	case dto.MetricType_COUNTER:
		out.Counter = &dto.Counter{Value: &m.value}
	case dto.MetricType_HISTOGRAM:
		out.Histogram = build(m.histogram)
	default:
		out.Gauge = &dto.Gauge{Value: &m.value}
	}
	return out
}

var watch = part(func(s *results.Snapshot) *results.Watch { return &s.Watch })

// watchFamilies hold the counts of the pod's watchers.
func watchFamilies() []family {
	count := counts[uint64]()
	return []family{
		gauge(watch, "etcdbench_watchers", "Watchers that were opened before the load.", count, func(w *results.Watch) *uint64 { return &w.Watchers }),
		gauge(watch, "etcdbench_watch_expected_events", "Events that the client pod's watchers should receive for acknowledged measured puts, or from histories.",
			count, func(w *results.Watch) *uint64 { return &w.Expected }),
		gauge(watch, "etcdbench_watch_missed_events", "Expected events that were not delivered in time.", count, func(w *results.Watch) *uint64 { return &w.Missed }),
		gauge(watch, "etcdbench_watch_duplicate_events", "Events that a watcher had received before.", count, func(w *results.Watch) *uint64 { return &w.Duplicate }),
		gauge(watch, "etcdbench_watch_cancelled_watchers", "How often etcd ended a watcher.", count, func(w *results.Watch) *uint64 { return &w.Cancelled }),
		gauge(watch, "etcdbench_watch_resumed_watchers", "How often a watcher was opened again because its stream had broken.",
			count, func(w *results.Watch) *uint64 { return &w.Resumed }),
		gauge(watch, "etcdbench_watch_replays", "How often a watcher has read its history to the end.", count, func(w *results.Watch) *uint64 { return &w.Replays }),
		gauge(watch, "etcdbench_watch_compacted_after_seconds", "Time from the start of the window until the watchers' history was found compacted.",
			durations, func(w *results.Watch) *time.Duration { return &w.CompactedAfter }),
	}
}
