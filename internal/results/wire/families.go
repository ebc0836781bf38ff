package wire

import (
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// family is one metric family with both ways across it: how it is written from
// a snapshot, and how one of its metrics is read back into one.
type family struct {
	name, help string
	kind       dto.MetricType
	labels     []string
	write      func(s *results.Snapshot, emit func(metric))
	read       func(s *results.Snapshot, m metric) error
}

// metric is one metric of a family. A histogram's minimum, maximum and sum of
// squares are metrics of their own.
type metric struct {
	// labels are the values of family.labels, in that order.
	labels []string
	// value of a gauge or a counter.
	value     float64
	histogram *results.Histogram
}

// families are all that a snapshot is made of, in the order in which they are
// written.
var families = slices.Concat(podFamilies(), windowFamilies(), operationFamilies(), watchFamilies(), disturbanceFamilies(), timelineFamilies(), targetFamilies(), figureFamilies(), processFamilies(), guardFamilies(), sightFamilies())

var familiesByName = func() map[string]*family {
	byName := make(map[string]*family, len(families))
	for i := range families {
		byName[families[i].name] = &families[i]
	}
	return byName
}()

// Families returns the snapshot as Prometheus metric families, histograms as
// native ones with classic buckets beside them. Times are cut to microseconds,
// texts are cut to a bounded length and cleaned of what cannot be printed, and
// sums above 2^51 ns (26 days) are rounded to 53 bits; all else is exact.
func Families(s *results.Snapshot) []*dto.MetricFamily {
	return encode(s, classicHistogram)
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

// encode leaves out a metric whose labels another one has already, because one
// such pair would spoil the whole scrape.
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
