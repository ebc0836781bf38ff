package render

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// However much a result has to say, the brief one has the answer first, at most so many lines, and the way to the rest.
func TestABriefResultFitsOnTheScreen(t *testing.T) {
	const more = "more"
	long := strings.Repeat("a long sentence that goes on. ", 60)
	judged := func(b *v1alpha1.EtcdBenchmark, objectives int) {
		for range objectives {
			b.Status.Objectives = append(b.Status.Objectives, v1alpha1.ObjectiveStatus{Name: "writes", Result: v1alpha1.ObjectiveMet, Wanted: "≤1s", Got: "1ms"})
		}
		b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionTrue})
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.EtcdBenchmark)
		answer string
		want   []string
	}{
		"usual": {func(b *v1alpha1.EtcdBenchmark) {
			judged(b, 4)
			b.Status.Summary.Warnings = []string{long}
			b.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityClientBound, Reasons: []v1alpha1.ValidityReason{{Cause: v1alpha1.CauseBusy, Message: "It was busy.", Change: "Take another."}}}
		}, "Good enough.", []string{"Good enough.\n", "writes     MET", "1 warning", "Load generator: It was busy. Take another."}},
		"many objectives":  {func(b *v1alpha1.EtcdBenchmark) { judged(b, 40) }, "No.", []string{"No.\n", "…\n"}},
		"a long answer":    {func(b *v1alpha1.EtcdBenchmark) { judged(b, 4) }, long, []string{"a long sentence", "…\n"}},
		"nothing measured": {func(b *v1alpha1.EtcdBenchmark) { b.Status = v1alpha1.EtcdBenchmarkStatus{} }, "It ended early.", []string{"It ended early.\n"}},
		"keys left": {func(b *v1alpha1.EtcdBenchmark) {
			judged(b, 40)
			left(b, "A pod did not end. "+benchmark.Leftover(b).String())
		}, "Good enough.", []string{"keys left. To delete them", ": kubectl etcdbench clean --endpoints "}},
		"a pod may still write": {func(b *v1alpha1.EtcdBenchmark) { left(b, "A pod may still write.") }, "Good enough.", []string{"keys left: A pod may still write.\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := finished([]*results.Snapshot{runtest.Measured(0, 100)})
			tc.change(b)
			var out strings.Builder
			if err := WriteBrief(&out, b, tc.answer, more); err != nil {
				t.Fatal(err)
			}
			got := out.String()
			if lines := strings.Count(got, "\n"); lines > BriefLines || !strings.HasSuffix(got, more+"\n") {
				t.Errorf("found %d lines:\n%s", lines, got)
			}
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("wanted %q in:\n%s", want, got)
				}
			}
		})
	}
}

// left sets that keys are left.
func left(b *v1alpha1.EtcdBenchmark, message string) {
	b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionCleaned, Reason: v1alpha1.ReasonKeysLeft, Message: message})
}
