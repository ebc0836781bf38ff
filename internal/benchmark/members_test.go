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
		{ID: "b", Name: "etcd-b", Unknown: strings.Repeat("x", 511) + "…"},
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
		"WHERE THE TIME WENT", "Disk: etcd-a flushed its log to disk 1,000 times",
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

// The puts of measured(0, 100) take 50.5 ms on average.
func TestEvidence(t *testing.T) {
	quiet := func(f map[results.Figure]float64) {
		f[results.FigureCPUSeconds], f[results.TimerWALFsync.Seconds()] = 1, 0.1
	}
	tests := map[string]struct {
		windows []*results.MemberWindow
		want    []v1alpha1.Resource
	}{
		"nothing is known":      {[]*results.MemberWindow{{Unknown: "gone"}, nil}, nil},
		"too few observations":  {[]*results.MemberWindow{figuresOf(29, quiet)}, nil},
		"a quiet leader":        {[]*results.MemberWindow{figuresOf(1000, quiet)}, []v1alpha1.Resource{v1alpha1.ResourceUnexplained}},
		"a quiet follower only": {[]*results.MemberWindow{{Unknown: "gone"}, figuresOf(1000, quiet)}, nil},
		"a slow disk": {[]*results.MemberWindow{figuresOf(200, quiet, func(f map[results.Figure]float64) {
			f[results.TimerWALFsync.Seconds()] = 9
		})}, []v1alpha1.Resource{v1alpha1.ResourceDisk}},
		"busy processors": {[]*results.MemberWindow{figuresOf(0, func(f map[results.Figure]float64) {
			f[results.FigureCPUSeconds] = 19
		})}, []v1alpha1.Resource{v1alpha1.ResourceCPU}},
		"processors of which the number is not known": {[]*results.MemberWindow{figuresOf(0, without(results.FigureProcessors), func(f map[results.Figure]float64) {
			f[results.FigureCPUSeconds] = 19
		})}, nil},
		"slow peers": {[]*results.MemberWindow{figuresOf(0, quiet, func(f map[results.Figure]float64) {
			f[results.TimerPeerRoundTrip.Count()], f[results.TimerPeerRoundTrip.Seconds()] = 30, 0.9
		})}, []v1alpha1.Resource{v1alpha1.ResourceNetwork}},
		"a slow store": {[]*results.MemberWindow{figuresOf(0, quiet, func(f map[results.Figure]float64) {
			f[results.TimerApply.Count()], f[results.TimerApply.Seconds()] = 1000, 8
		})}, []v1alpha1.Resource{v1alpha1.ResourceApply}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{measured(0, 100, told(tc.windows...))})
			var got []v1alpha1.Resource
			for _, e := range Summary(putRun(), s).Evidence {
				got = append(got, e.Resource)
				if len(e.Message) == 0 || len(e.Message) > 512 {
					t.Errorf("%s says %q", e.Resource, e.Message)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
		})
	}
}
