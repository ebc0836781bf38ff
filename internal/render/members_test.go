package render

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestTableShowsMembers(t *testing.T) {
	b := runtest.Puts()
	idle := runtest.Flushed(0, runtest.Without(results.TimerWALFsync.P99Above()), runtest.Without(results.TimerWALFsync.P99AtMost()), runtest.Without(results.FigureMemoryBytes))
	gone := &results.MemberWindow{Unknown: "its metrics could not be read at 10.0.0.3:2379: 404"}
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(1000), idle, gone))})
	b.Status.Summary = benchmark.Summary(b, s)
	text := tableOf(t, b)
	for _, want := range []string{
		"4ms–8ms", "1.50 of 2", "1,074 MB", "LEADER CHANGES", "member etcd-c: no figures: its metrics could not be read at 10.0.0.3:2379: 404",
		"WHERE THE TIME WENT", "CPU: etcd-a used 1.50 of the 2 processors",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("table lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "STORAGE WRITTEN") {
		t.Errorf("what no sampler has measured is shown:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "etcd-b") && strings.Contains(line, " 0 MB ") && !strings.Contains(line, unknown) {
			t.Errorf("an unknown figure is shown as a number: %s", line)
		}
	}
}

// Members of a store that cuts times say so.
func TestTableSaysThatTimesAreCut(t *testing.T) {
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(10)))})
	for _, store := range spec.Datastores() {
		b := runtest.Puts(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Datastore = store })
		b.Status.Summary = benchmark.Summary(b, s)
		row, _ := store.Store()
		if said := strings.Contains(tableOf(t, b), "whole milliseconds. A mean below 3ms"); said != row.CutTimes {
			t.Errorf("%s: said %t", store, said)
		}
	}
}

// Of members with a sampler, and of one whose sampler did not answer.
func TestTableShowsWhatSamplersMeasured(t *testing.T) {
	b := runtest.Puts()
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(10, runtest.Sampled), runtest.Flushed(10)))})
	b.Status.Summary = benchmark.Summary(b, s)
	var lines []string
	for line := range strings.Lines(tableOf(t, b)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	wantLine(t, lines, "etcd-a 1.88 of 2 0 MB 3,000 MB 4 MB 5 MB")
	wantLine(t, lines, "etcd-b unknown unknown unknown unknown unknown")
	for i := range b.Status.Summary.Members {
		b.Status.Summary.Members[i].PodReceivedBytes, b.Status.Summary.Members[i].PodSentBytes = nil, nil
	}
	if text := tableOf(t, b); strings.Contains(text, "POD IN") || !strings.Contains(text, "STORAGE WRITTEN") {
		t.Errorf("wanted no columns of pods without a cluster, found:\n%s", text)
	}
}

// A store has no figures of another one.
func TestTableOmitsWhatNoMemberHas(t *testing.T) {
	b, cpu := runtest.Puts(), int64(500)
	b.Status.Summary = benchmark.Summary(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 100)}))
	b.Status.Summary.Members = []v1alpha1.MemberSummary{{Name: "zoo-a", CPUMillicores: &cpu, MemoryBytes: new(int64(1 << 30))}, {Name: "zoo-b"}}
	text := tableOf(t, b)
	for what, want := range map[string]bool{"CPU": true, " 0.50": true, "1,074 MB": true, "WAL FSYNC": false, "DB AT END": false, "SLOW APPLIES": false} {
		if strings.Contains(text, what) != want {
			t.Errorf("wanted %q: %t, found\n%s", what, want, text)
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

// What a kubelet measured stands apart from what the members say, and a reason that all share stands there once.
func TestTableShowsKubelets(t *testing.T) {
	b := runtest.Puts()
	b.Status.Summary = benchmark.Summary(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(10), runtest.Flushed(10)))}))
	all := b.Status.Summary.Members
	all[0].Kubelet = &v1alpha1.KubeletFigures{CPUMillicores: new(int64(320)), RSSBytes: new(int64(3e7)), SentBytesPerSecond: new(int64(57_695))}
	all[1].Kubelet = &v1alpha1.KubeletFigures{Unknown: "forbidden"}
	text := tableOf(t, b)
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	wantLine(t, lines, "MEMBER (KUBELET) CPU RSS POD OUT/S")
	wantLine(t, lines, "etcd-a 0.32 30 MB 57,695 B")
	wantLine(t, lines, "kubelet: absent for etcd-b: forbidden")
	all[0].Kubelet = all[1].Kubelet
	if text := tableOf(t, b); strings.Contains(text, "(KUBELET)") || strings.Count(text, "kubelet: absent: forbidden") != 1 {
		t.Errorf("wanted one reason and no table, found:\n%s", text)
	}
}

// The table counts the lines of logs, and the list of a page has them by time.
func TestLogsOfMembers(t *testing.T) {
	b := runtest.Puts()
	b.Status.Summary = benchmark.Summary(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(10), runtest.Flushed(10)))}))
	all := b.Status.Summary.Members
	if strings.Contains(tableOf(t, b), "logs:") || LogBlocks(b.Status.Summary) != nil || LogBlocks(nil) != nil {
		t.Error("found logs where there are none")
	}
	line := func(at int64) []v1alpha1.LogLine {
		return []v1alpha1.LogLine{{AtMicroseconds: at, Text: "took\x1b long"}}
	}
	all[0].Log = []v1alpha1.MemberLog{{Kind: spec.LogSlowFlush, Count: 1200, Lines: line(3e6)}}
	all[1].Log = []v1alpha1.MemberLog{{Kind: spec.LogElection, Count: 1, Lines: line(2e6)}, {Kind: spec.LogSlowFlush, Count: 1, Lines: line(1e6)}}
	if text := tableOf(t, b); !strings.Contains(text, "logs: Election 1 (from 2s, etcd-b), SlowFlush 1,201 (from 1s, etcd-b)\n") {
		t.Errorf("the line about logs is missing:\n%s", text)
	}
	rows := LogBlocks(b.Status.Summary)[1].Rows
	if len(rows) != 4 || strings.Join(rows[1], "|") != "1s|etcd-b|SlowFlush|took  long" || rows[3][1] != "etcd-a" {
		t.Errorf("found the rows %q", rows)
	}
	for range mostLogRows {
		all[0].Log[0].Lines = append(all[0].Log[0].Lines, line(4e6)...)
	}
	if blocks := LogBlocks(b.Status.Summary); len(blocks[1].Rows) != mostLogRows+1 || !strings.Contains(blocks[0].Text, "3 lines more") {
		t.Errorf("found %d rows after %q", len(blocks[1].Rows), blocks[0].Text)
	}
}
