package report

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Each request is in the band of its latency, whatever the resolution of the histograms is.
func TestBandsHaveAllRequests(t *testing.T) {
	for schema := results.MinSchema; schema <= results.MaxSchema; schema++ {
		var column results.Histogram
		for _, took := range []time.Duration{time.Nanosecond, 3 * time.Millisecond, 3 * time.Millisecond} {
			column.Record(int64(took))
		}
		column.Reduce(schema)
		c := render.Intervals{Points: make([]results.Point, 1), Columns: []results.Histogram{column}}
		total, found := uint64(0), uint64(0)
		for _, b := range bandsOf(c) {
			total += b.Counts[0]
			if b.From < 3000 && 3000 <= b.To {
				found += b.Counts[0]
			}
		}
		if total != 3 || found != 2 {
			t.Errorf("schema %d: found %d requests, %d of them around 3 ms", schema, total, found)
		}
	}
}
