package benchmark

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestSummaryOfMembers(t *testing.T) {
	b := putRun()
	unsaid := &results.MemberWindow{Unknown: strings.Repeat("x", 600)}
	s := results.Summarize([]*results.Snapshot{measured(0, 100, told(figuresOf(1000), unsaid, nil))})
	want := []v1alpha1.MemberSummary{
		{
			ID: "a", Name: "etcd-a", SampledMicroseconds: 10_000_000,
			WALFsync: &v1alpha1.MemberDuration{
				Count: 1000, MeanNanoseconds: 2_000_000, P99AboveMicroseconds: new(int64(4000)), P99AtMostMicroseconds: new(int64(8000)),
			},
			LeaderChanges: new(int64(1)), SlowApplies: new(int64(0)), FailedProposals: new(int64(3)),
			CPUMillicores: new(int64(1500)), Processors: new(int64(2)), MemoryBytes: new(int64(1 << 30)), DatabaseGrowthBytes: new(int64(2000)),
		},
		{ID: "b", Name: "etcd-b", Unknown: strings.Repeat("x", 508) + " …"},
	}
	if diff := cmp.Diff(want, Summary(b, s).Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

// What a member says may be anything; status holds integers.
func TestSummaryLeavesOutWhatNoIntegerHolds(t *testing.T) {
	absurd := figuresOf(1e300, func(f map[results.Figure]float64) {
		f[results.FigureLeaderChanges], f[results.FigureDatabaseEndBytes] = 1e300, 1e300
		f[results.FigureCPUSeconds] = 1e300
	})
	s := results.Summarize([]*results.Snapshot{measured(0, 100, told(absurd))})
	got := Summary(putRun(), s).Members[0]
	if got.LeaderChanges != nil || got.WALFsync != nil || got.DatabaseGrowthBytes != nil || got.CPUMillicores != nil {
		t.Errorf("got %+v, wanted nothing for absurd numbers", got)
	}
}

func TestTableShowsMembers(t *testing.T) {
	b := putRun()
	idle := figuresOf(0, without(results.TimerWALFsync.P99Above()), without(results.TimerWALFsync.P99AtMost()), without(results.FigureMemoryBytes))
	gone := &results.MemberWindow{Unknown: "its metrics could not be read at 10.0.0.3:2379: 404"}
	s := results.Summarize([]*results.Snapshot{measured(0, 100, told(figuresOf(1000), idle, gone))})
	b.Status.Summary = Summary(b, s)
	text := tableOf(t, b)
	for _, want := range []string{
		"4ms–8ms", "1.50 of 2", "1,074 MB", "LEADER CHANGES", "member etcd-c: unknown, since its metrics could not be read at 10.0.0.3:2379: 404",
		"WHERE THE TIME WENT", "CPU: etcd-a used 1.50 of the 2 processors",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("table lacks %q:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "etcd-b") && strings.Contains(line, " 0 MB ") && !strings.Contains(line, unknown) {
			t.Errorf("a figure that is not known is shown: %s", line)
		}
	}
}

func tableOf(t *testing.T, b *v1alpha1.EtcdBenchmark) string {
	t.Helper()
	var out strings.Builder
	if err := WriteTable(&out, b, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
