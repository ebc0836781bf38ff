package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
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

// The page and the table in the terminal have the same intervals, so they say the same of the lowest and highest values.
func TestThePageAgreesWithTheTerminal(t *testing.T) {
	run := measured(t, "writes", time.Millisecond)
	course := results.Course{}
	for i := range 9000 {
		// Batches of 100 requests, every 50 ms, and more and more slowly.
		at, latency := time.Duration(i/100)*50*time.Millisecond+time.Duration(i/10)*time.Millisecond/2, time.Duration(300+i)*time.Microsecond
		course.Timeline.Record(at, latency, true)
		course.Heatmap.Record(at, latency)
	}
	var out strings.Builder
	if err := render.WriteTable(&out, run.Object, &course); err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	drawn, _ := coursePlots("", run.Object, courseOf(run.Object, benchmark.Detail{Course: &course}))
	for _, p := range drawn {
		page.WriteString(p.Picture.Info().Description)
	}
	for row, line := range map[string]string{"throughput": "succeeded", "p50 latency": "p50", "p90 latency": "p90"} {
		_, rest, found := strings.Cut(out.String(), "\n"+row+" ")
		terminal, _, _ := strings.Cut(rest, "\n")
		values := strings.Fields(terminal)
		if !found || len(values) < 3 {
			t.Fatalf("the terminal has no row %s:\n%s", row, out.String())
		}
		if want := fmt.Sprintf("%s %s to %s", line, values[1], values[2]); !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q, as in the terminal, and says: %s", want, page.String())
		}
	}
}
