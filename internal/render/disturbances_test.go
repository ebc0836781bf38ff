package render

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestTheTableShowsDisturbances(t *testing.T) {
	course := &results.Course{Timeline: results.Timeline{Interval: 800 * time.Millisecond, Points: slices.Repeat([]results.Point{answered(100, 2*time.Millisecond)}, 13)}}
	run := finished([]*results.Snapshot{runtest.Measured(0, 10)}, runtest.Disturbed)
	run.Status.Summary.DurationMicroseconds = 10_400_000
	run.Status.Summary.Disturbances = benchmark.Summary(run, results.Summary{
		Merged: &results.Snapshot{}, Disturbances: runtest.Compacted(3100*time.Millisecond, 9900*time.Millisecond),
	}).Disturbances
	var out strings.Builder
	if err := WriteTable(&out, run, course); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"compact             C───     C\n",
		"DISTURBANCE  COUNT  FAILED  LEFT OUT  MEAN  LONGEST\n",
		"Compact          2       1         3    2s       2s\n",
		"Defragment       0       0         0  none     none\n",
		"Compact: no leader\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "defragment  ") {
		t.Errorf("a disturbance that never began is drawn:\n%s", out.String())
	}
}
