package render

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// finished is runtest.Puts with the result of these snapshots.
func finished(snaps []*results.Snapshot, change ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	b := runtest.Puts()
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}}
	b.Status.Target = benchmark.TargetStatus(b, b.Spec.Target.Endpoints, &results.Target{ClusterID: "cafe", Members: []results.Member{
		{ID: "a", Name: "etcd-0", Version: "3.7.3", Leader: true, ResidentMemoryBytes: 100e6}, {ID: "b", ResidentMemoryBytes: 152e6}, {ID: "c"},
	}})
	s := results.Summarize(snaps)
	b.Status.Summary = benchmark.Summary(b, s)
	for _, c := range change {
		c(b)
	}
	b.Status.Objectives, _ = verdict.Judge(b, &s, v1alpha1.ReasonCompleted)
	return b
}

// cells returns the text of a table, and its lines with single spaces between words.
func cells(t *testing.T, b *v1alpha1.EtcdBenchmark) (text string, lines []string) {
	t.Helper()
	var out strings.Builder
	if err := WriteTable(&out, b, nil); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
			t.Errorf("wanted at most 100 columns, got %d: %s", n, line)
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return out.String(), lines
}

func wantLine(t *testing.T, lines []string, want string) {
	t.Helper()
	for _, line := range lines {
		if line == want {
			return
		}
	}
	t.Errorf("wanted the line %q in:\n%s", want, strings.Join(lines, "\n"))
}

func TestTableHasTheColumnsOfThePerformancePage(t *testing.T) {
	_, lines := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100), runtest.Measured(1, 100)}))
	wantLine(t, lines, "KEYS WRITTEN CONNECTIONS CLIENTS TARGET WRITE QPS AVG LATENCY AVG SERVER RSS")
	wantLine(t, lines, "Put 200 4 10 all members 200 50.5ms 126 MB")
	wantLine(t, lines, "Put 0 14 200 0 214")
	wantLine(t, lines, "Put latency 1ms 49.9ms 90.1ms 95.1ms – – 100ms 28.9ms")
	wantLine(t, lines, "PRELOAD: keys written before the load. CONTROL: checks, the lock, and deleting the run's keys.")
	wantLine(t, lines, "load 2 pods, 4 connections, 10 clients, closed loop (a client waits for each answer), transport")
}

func TestTableOfReads(t *testing.T) {
	b := finished([]*results.Snapshot{runtest.Measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Target.Members = spec.MembersLeader
		b.Spec.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{Consistency: spec.Serializable}}
		b.Status.Summary.Operations[0].Operation = spec.OperationRange
		b.Status.Target = nil
	})
	_, lines := cells(t, b)
	wantLine(t, lines, "REQUESTS CONNECTIONS CLIENTS CONSISTENCY READ QPS AVG LATENCY AVG SERVER RSS")
	wantLine(t, lines, "Range 100 4 10 Serializable 100 50.5ms unknown")
}

// Requests without a consistency have no column for it.
func TestTableOfOtherRequests(t *testing.T) {
	for _, tc := range []struct {
		operation spec.Operation
		workload  spec.Workload
		want      []string
	}{
		{spec.OperationTxn, spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{}},
			[]string{"REQUESTS CONNECTIONS CLIENTS QPS AVG LATENCY AVG SERVER RSS", "Txn 100 4 10 100 50.5ms unknown"}},
		{spec.OperationRange, spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{ReadPercent: 50, Consistency: spec.Linearizable}},
			[]string{"REQUESTS CONNECTIONS CLIENTS CONSISTENCY QPS AVG LATENCY AVG SERVER RSS", "Range 100 4 10 Linearizable 100 50.5ms unknown"}},
	} {
		_, lines := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
			b.Spec.Workload, b.Status.Target = tc.workload, nil
			b.Status.Summary.Operations[0].Operation = tc.operation
		}))
		for _, want := range tc.want {
			wantLine(t, lines, want)
		}
	}
}

func TestTableOfDeletions(t *testing.T) {
	_, lines := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Workload = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{}}
		b.Status.Summary.Operations[0].Operation = spec.OperationDelete
	}))
	wantLine(t, lines, "KEYS DELETED CONNECTIONS CLIENTS TARGET WRITE QPS AVG LATENCY AVG SERVER RSS")
	wantLine(t, lines, "Delete 100 4 10 all members 100 50.5ms 126 MB")
}

func exemplified(s *results.Snapshot) {
	s.Operations[spec.OperationPut].Examples.Add("Unavailable", "etcdserver: no leader")
}

func TestTableShowsWhatWentWrong(t *testing.T) {
	b := finished([]*results.Snapshot{runtest.Measured(0, 98, runtest.Failing(1200, "Unavailable", time.Millisecond), exemplified, runtest.CutOff(2, time.Minute), runtest.Late(3, time.Minute))},
		runtest.Objectives(runtest.MaxErrors(0), runtest.MaxLatency(spec.StatisticMean, 1)),
		func(b *v1alpha1.EtcdBenchmark) {
			b.Status.Summary.Warnings = []string{strings.Repeat("the disk was slow ", 20)}
			b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{
				Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonKeysLeft, Message: "etcdctl del --prefix x/",
			})
		})
	text, lines := cells(t, b)
	wantLine(t, lines, "Put failed with Unavailable: 1,200 (etcdserver: no leader)")
	wantLine(t, lines, "Put: 2 requests had no answer when the run ended, or were due and not sent")
	wantLine(t, lines, "Put: 3 of 1,300 measured requests were sent late (by more than 250 µs, and by more than a tenth of")
	for _, want := range []string{"MISSED", "≥60s", "≥: at least,", "–: fewer than ten", "warning: ", "etcdctl del --prefix x/"} {
		if !strings.Contains(text, want) {
			t.Errorf("wanted %q in:\n%s", want, text)
		}
	}
}

func TestTableOfARunThatNeverMeasured(t *testing.T) {
	b := runtest.Puts()
	b.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonTLSFailed, Message: "etcd-0 has a wrong certificate.",
	}}
	text, _ := cells(t, b)
	if !strings.Contains(text, "TLSFailed. etcd-0 has a wrong certificate.") || strings.Contains(text, "QPS") || strings.Contains(text, "SENT") {
		t.Errorf("wanted the reason and no figures, got:\n%s", text)
	}
	b.Status.RequestCounts = []v1alpha1.RequestCount{{RPC: "Put", Preload: 1234}}
	if text, _ := cells(t, b); !strings.Contains(text, "SENT") || !strings.Contains(text, "1,234") {
		t.Errorf("wanted what was sent before, got:\n%s", text)
	}
}

// Without a success there are no latencies, and so no table of them.
func TestTableOfARunWithoutASuccess(t *testing.T) {
	text, _ := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 0, runtest.Failing(100, "InvalidArgument", time.Millisecond))}))
	if strings.Contains(text, "P99.9") || strings.Contains(text, "latency:") || !strings.Contains(text, "InvalidArgument") {
		t.Errorf("wanted the error and no table of latencies, got:\n%s", text)
	}
}

func TestTableOfLostBuckets(t *testing.T) {
	b := finished([]*results.Snapshot{runtest.Measured(0, 100)})
	b.Status.Summary.Operations[0].Latency.ErrorBoundPerMillion = 0
	_, lines := cells(t, b)
	wantLine(t, lines, "Put latency 1ms unknown unknown unknown unknown unknown 100ms 28.9ms")
}

// In a closed loop, latency and service time are the same and have one row, unless the load generator was late. At a rate, both
// have one.
func TestRowsOfLatency(t *testing.T) {
	late := func(b *v1alpha1.EtcdBenchmark) { b.Status.Summary.Operations[0].Latency.P99Microseconds += 1_000_000 }
	asked := func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Rate = &spec.Rate{PerSecond: 100} }
	for name, tc := range map[string]struct {
		change func(*v1alpha1.EtcdBenchmark)
		rows   int
	}{"closed loop": {func(*v1alpha1.EtcdBenchmark) {}, 0}, "closed loop, late": {late, 1}, "rate": {asked, 1}} {
		// 2,000 requests, so that a p99 is known.
		text, _ := cells(t, finished([]*results.Snapshot{runtest.Measured(0, 2000)}, func(b *v1alpha1.EtcdBenchmark) {
			op := &b.Status.Summary.Operations[0]
			op.ServiceTime = op.Latency.DeepCopy()
		}, tc.change))
		if got := strings.Count(text, "\nPut service time "); got != tc.rows || (tc.rows == 1) != strings.Contains(text, "service time: from") {
			t.Errorf("%s: found %d rows of service time:\n%s", name, got, text)
		}
	}
}
