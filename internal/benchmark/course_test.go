package benchmark

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestReportHasTheCourse(t *testing.T) {
	pod := runtest.Measured(0, 3)
	pod.Timeline.Record(0, time.Millisecond, true)
	pod.Timeline.Record(50*time.Millisecond, 4*time.Millisecond, true)
	pod.Timeline.Record(250*time.Millisecond, 0, false)
	pod.Heatmap.Record(50*time.Millisecond, 4*time.Millisecond)
	pod.Samples = map[string]*results.Samples{"a": {At: []time.Duration{0}, Values: map[results.Figure][]float64{results.FigureCPUSeconds: {1}}}}
	for skew, want := range map[time.Duration]results.Course{
		0: {Timeline: pod.Timeline, Heatmap: pod.Heatmap, Samples: pod.Samples},
		// Intervals are longer than twice the skew.
		70 * time.Millisecond: {Timeline: pod.Timeline.Folded(600, 200*time.Millisecond), Heatmap: pod.Heatmap.Folded(150, 200*time.Millisecond), Samples: pod.Samples},
	} {
		summary := results.Summarize([]*results.Snapshot{pod, nil})
		summary.StartSkew = skew
		data, err := Report(runtest.Puts(), summary)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadReport(data)
		if err != nil {
			t.Fatal(err)
		}
		for operation, r := range pod.Operations {
			if back := got.Operations[operation]; back == nil || !back.Latency.Equal(r.Latency) || !back.Service.Equal(r.Service) {
				t.Errorf("skew %v: %s: found %+v, wanted %+v", skew, operation, back, r)
			}
		}
		if diff := cmp.Diff(&want, got.Course); diff != "" {
			t.Errorf("skew %v: course (-want +got):\n%s", skew, diff)
		}
	}
}

func TestReadReportRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"no report": "x", "no length": `{"timeline": {"points": [{"succeeded": 1}]}}`, "a newer version": `{"version": 99}`,
		"a broken histogram": `{"version": 2, "operations": [{"operation": "Put", "histograms": {"latency": {"schema": 99, "buckets": [[1, 1]]}}}]}`,
	} {
		if got, err := ReadReport([]byte(data)); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}
