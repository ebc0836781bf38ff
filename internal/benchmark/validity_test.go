package benchmark

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// had gives a pod what its process had of its machine in a second, throttled
// for some of it.
func had(throttledSeconds float64) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		s.Process = &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{
			results.ProcessWindowSeconds: 1, results.ProcessCPUSeconds: 0.75, results.ProcessProcessors: 2,
			results.ProcessQuotaProcessors: 1, results.ProcessThrottledSeconds: throttledSeconds,
			results.ProcessGoroutineDelaySeconds: 0.000125, results.ProcessThreadDelaySeconds: 0.00005, results.ProcessCollectionRatio: 0.03,
		}}
	}
}

func TestValidity(t *testing.T) {
	b := putRun()
	got := Summary(b, results.Summarize([]*results.Snapshot{measured(0, 100, had(0)), measured(1, 100, had(0.25))})).Validity
	if got.Verdict != v1alpha1.ValidityClientBound || len(got.Reasons) != 1 || got.Reasons[0].Cause != v1alpha1.CauseThrottled {
		t.Fatalf("wanted the throttled pod to be the limit, got %+v", got)
	}
	if *got.CPUPercent != 75 || *got.GarbageCollectionPercent != 3 || *got.ThrottledMicroseconds != 250_000 || *got.GoroutineDelayP99Microseconds != 125 || *got.ThreadDelayMeanMicroseconds != 50 {
		t.Errorf("wanted the numbers of the worst pod, got %+v", got)
	}
	got = Summary(b, results.Summarize([]*results.Snapshot{measured(0, 100)})).Validity
	if got.Verdict != v1alpha1.ValidityUnknown || got.CPUPercent != nil || got.ThrottledMicroseconds != nil {
		t.Errorf("wanted nothing to be known of a pod that told nothing, got %+v", got)
	}
}

func TestSharedNode(t *testing.T) {
	for name, tc := range map[string]struct {
		members []string
		pods    []string
		want    v1alpha1.SharedWithMembers
	}{
		"apart":             {[]string{"a", "b"}, []string{"c", "d"}, ""},
		"one of them":       {[]string{"a", "b"}, []string{"c", "b"}, v1alpha1.SharedNode},
		"members not known": {nil, []string{"a"}, ""},
		"pods not known":    {[]string{""}, []string{""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := putRun()
			b.Status.Target = &v1alpha1.TargetStatus{Nodes: tc.members}
			for _, node := range tc.pods {
				b.Status.Pods = append(b.Status.Pods, v1alpha1.PodStatus{Node: node})
			}
			if got := Summary(b, results.Summarize([]*results.Snapshot{measured(0, 1)})).Validity.Shared; got != tc.want {
				t.Errorf("wanted %q, got %q", tc.want, got)
			}
		})
	}
}

// A client that was the limit lets nothing pass, and keeps nothing from being
// missed.
func TestJudgeDoubtsTheClient(t *testing.T) {
	met, missed := minThroughput(1), maxLatency(v1alpha1.StatisticMax, 1)
	cases := map[string]struct {
		objective  v1alpha1.Objective
		change     func(*results.Snapshot)
		reason     string
		want       metav1.ConditionStatus
		wantReason string
		says       bool
	}{
		"valid":             {met, had(0), v1alpha1.ReasonCompleted, metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet, false},
		"not known":         {met, func(*results.Snapshot) {}, v1alpha1.ReasonCompleted, metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet, false},
		"bound and met":     {met, had(0.25), v1alpha1.ReasonCompleted, metav1.ConditionUnknown, v1alpha1.ReasonClientBound, true},
		"bound and missed":  {missed, had(0.25), v1alpha1.ReasonCompleted, metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, true},
		"bound and stopped": {met, had(0.25), v1alpha1.ReasonStopped, metav1.ConditionUnknown, v1alpha1.ReasonClientBound, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{measured(0, 100, tc.change)})
			_, got := Judge(putRun(withObjectives(tc.objective)), &s, tc.reason)
			if got.Status != tc.want || got.Reason != tc.wantReason || strings.Contains(got.Message, string(v1alpha1.CauseThrottled)) != tc.says {
				t.Errorf("wanted %s/%s, got %+v", tc.want, tc.wantReason, got)
			}
		})
	}
}

func TestTheTableShowsTheClient(t *testing.T) {
	text, lines := cells(t, finished([]*results.Snapshot{measured(0, 100, had(0)), measured(1, 100, had(0))}))
	wantLine(t, lines, "client not the limit: 75 % of its processors used, 3 % of that for garbage collection, work")
	if strings.Contains(text, "THE CLIENT") {
		t.Errorf("a client that was no limit is explained:\n%s", text)
	}
	text, lines = cells(t, finished([]*results.Snapshot{measured(0, 100, had(0.25)), measured(1, 100, had(0))}))
	wantLine(t, lines, "WHY THE CLIENT WAS A LIMIT")
	if !strings.Contains(text, "limits.cpu") {
		t.Errorf("wanted what to change in:\n%s", text)
	}
}
