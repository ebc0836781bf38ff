package benchmark

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestReportHasTheTimeline(t *testing.T) {
	snapshot := runtest.Measured(0, 3)
	snapshot.Timeline.Record(0, time.Millisecond, true)
	snapshot.Timeline.Record(50*time.Millisecond, 4*time.Millisecond, true)
	snapshot.Timeline.Record(250*time.Millisecond, 0, false)
	data, err := Report(runtest.Puts(), results.Merge([]*results.Snapshot{snapshot, nil}), results.Summarize([]*results.Snapshot{snapshot, nil}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReportTimeline(data)
	if err != nil {
		t.Fatal(err)
	}
	want := &Timeline{IntervalSeconds: 0.1, Points: []TimelinePoint{
		{Succeeded: 2, MeanLatencyMicroseconds: 2500, MaxLatencyMicroseconds: 4000}, {}, {Failed: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}

func TestReportTimelineRefuses(t *testing.T) {
	for name, data := range map[string]string{"no report": "x", "no length": `{"timeline": {"points": [{"succeeded": 1}]}}`} {
		if got, err := ReportTimeline([]byte(data)); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}
