package wire

import (
	"slices"

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
var families = slices.Concat(podFamilies(), windowFamilies(), operationFamilies(), watchFamilies(), disturbanceFamilies(), timelineFamilies(), targetFamilies(), figureFamilies(), processFamilies(), guardFamilies(), unobservedFamilies())

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
