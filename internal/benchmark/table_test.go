package benchmark

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// finished is putRun with the result of these snapshots.
func finished(snaps []*results.Snapshot, change ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	b := putRun()
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}}
	b.Status.Target = TargetStatus(b, b.Spec.Target.Endpoints, &results.Target{ClusterID: "cafe", Members: []results.Member{
		{ID: "a", Name: "etcd-0", Version: "3.7.3", Leader: true, ResidentMemoryBytes: 100e6}, {ID: "b", ResidentMemoryBytes: 152e6}, {ID: "c"},
	}})
	s := results.Summarize(snaps)
	b.Status.Summary = Summary(b, s)
	for _, c := range change {
		c(b)
	}
	b.Status.Objectives, _ = Judge(b, &s, v1alpha1.ReasonCompleted)
	return b
}

// cells returns the text of a table as words per line, since the space between
// them is a matter of taste.
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
	_, lines := cells(t, finished([]*results.Snapshot{measured(0, 100), measured(1, 100)}))
	wantLine(t, lines, "KEYS WRITTEN CONNECTIONS CLIENTS TARGET WRITE QPS AVG LATENCY AVG SERVER RSS")
	wantLine(t, lines, "Put 200 4 10 all members 200 50.5ms 126 MB")
	wantLine(t, lines, "Put 0 14 200 0 214")
}

func TestTableOfReads(t *testing.T) {
	b := finished([]*results.Snapshot{measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Target.Members = v1alpha1.MembersLeader
		b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadRange, Range: &v1alpha1.RangeWorkload{Consistency: v1alpha1.ConsistencySerializable}}
		b.Status.Summary.Operations[0].Operation = v1alpha1.OperationRange
		b.Status.Target = nil
	})
	_, lines := cells(t, b)
	wantLine(t, lines, "REQUESTS CONNECTIONS CLIENTS CONSISTENCY READ QPS AVG LATENCY AVG SERVER RSS")
	wantLine(t, lines, "Range 100 4 10 serializable 100 50.5ms unknown")
}

// Requests without a consistency have no empty column of it.
func TestTableOfOtherRequests(t *testing.T) {
	for _, tc := range []struct {
		operation v1alpha1.Operation
		workload  v1alpha1.Workload
		want      []string
	}{
		{v1alpha1.OperationTxn, v1alpha1.Workload{Txn: &v1alpha1.TxnWorkload{}},
			[]string{"REQUESTS CONNECTIONS CLIENTS QPS AVG LATENCY AVG SERVER RSS", "Txn 100 4 10 100 50.5ms unknown"}},
		{v1alpha1.OperationRange, v1alpha1.Workload{Mixed: &v1alpha1.MixedWorkload{Consistency: v1alpha1.ConsistencyLinearizable}},
			[]string{"REQUESTS CONNECTIONS CLIENTS CONSISTENCY QPS AVG LATENCY AVG SERVER RSS", "Range 100 4 10 linearizable 100 50.5ms unknown"}},
	} {
		_, lines := cells(t, finished([]*results.Snapshot{measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
			b.Spec.Workload, b.Status.Target = tc.workload, nil
			b.Status.Summary.Operations[0].Operation = tc.operation
		}))
		for _, want := range tc.want {
			wantLine(t, lines, want)
		}
	}
}

func TestTableOfDeletions(t *testing.T) {
	_, lines := cells(t, finished([]*results.Snapshot{measured(0, 100)}, func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Workload = v1alpha1.Workload{Type: v1alpha1.WorkloadDelete, Delete: &v1alpha1.DeleteWorkload{}}
		b.Status.Summary.Operations[0].Operation = v1alpha1.OperationDelete
	}))
	wantLine(t, lines, "KEYS DELETED CONNECTIONS CLIENTS TARGET WRITE QPS AVG LATENCY AVG SERVER RSS")
	wantLine(t, lines, "Delete 100 4 10 all members 100 50.5ms 126 MB")
}

func TestTableShowsWhatWentWrong(t *testing.T) {
	b := finished([]*results.Snapshot{measured(0, 98, failing(1200, "Unavailable", time.Millisecond), cutOff(2, time.Minute), late(3, time.Minute))},
		withObjectives(maxErrors(0), maxLatency(v1alpha1.StatisticMean, 1)),
		func(b *v1alpha1.EtcdBenchmark) {
			b.Status.Summary.Warnings = []string{strings.Repeat("the disk was slow ", 20)}
			b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{
				Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonKeysLeft, Message: "etcdctl del --prefix x/",
			})
		})
	text, lines := cells(t, b)
	wantLine(t, lines, "Put failed with Unavailable: 1,200")
	wantLine(t, lines, "Put unanswered or still owed at the end: 2")
	wantLine(t, lines, "Put sent late, by more than 250 µs and a tenth of the latency's p99: 3 of 1,300 measured")
	for _, want := range []string{"MISSED", "≥60s", "warning: ", "etcdctl del --prefix x/"} {
		if !strings.Contains(text, want) {
			t.Errorf("wanted %q in:\n%s", want, text)
		}
	}
}

func TestTableOfARunThatNeverMeasured(t *testing.T) {
	b := putRun()
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

func TestTableOfLostBuckets(t *testing.T) {
	b := finished([]*results.Snapshot{measured(0, 100)})
	b.Status.Summary.Operations[0].Latency.ErrorBoundPartsPerMillion = 0
	_, lines := cells(t, b)
	wantLine(t, lines, "Put latency 1ms unknown unknown unknown unknown unknown 100ms 28.9ms")
}

func TestMicros(t *testing.T) {
	for us, want := range map[int64]string{
		0: "0µs", 812: "812µs", 999: "999µs", 1_000: "1ms", 25_149: "25.1ms", 999_949: "1s", 999_499: "999ms",
		1_234_567: "1.23s", 60_000_000: "60s", 4_321_000_000: "4,321s",
	} {
		if got := Micros(us); got != want {
			t.Errorf("%d µs: wanted %s, got %s", us, want, got)
		}
	}
}
