package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// Pods that fall silent together have one event, which says how many they are.
func TestSilentPodsHaveOneEvent(t *testing.T) {
	pod := func(name, message string) v1alpha1.PodStatus { return v1alpha1.PodStatus{Name: name, Message: message} }
	before := []v1alpha1.PodStatus{pod("a", ""), pod("b", ""), pod("c", lifecycle.NotScraped+"refused")}
	tests := map[string]struct {
		now  []v1alpha1.PodStatus
		want string
	}{
		"none":                {before, ""},
		"one":                 {[]v1alpha1.PodStatus{pod("a", ""), pod("b", lifecycle.NotScraped+"timeout"), before[2]}, "Client pod 0 (b): " + lifecycle.NotScraped + "timeout"},
		"several":             {[]v1alpha1.PodStatus{pod("a", lifecycle.NotScraped+"timeout"), pod("b", lifecycle.NotScraped+"timeout"), before[2]}, "2 client pods cannot be scraped. Client pod 0 (a)"},
		"one that is not old": {[]v1alpha1.PodStatus{pod("new", lifecycle.NotScraped+"timeout")}, "Client pod 0 (new)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			recorder := events.NewFakeRecorder(10)
			run := newRun("ns", "run", func(run *v1alpha1.EtcdBenchmark) { run.Status.Pods = tc.now })
			(&EtcdBenchmarkReconciler{Recorder: recorder}).announceSilentPods(t.Context(), run, &v1alpha1.EtcdBenchmarkStatus{Pods: before})
			close(recorder.Events)
			var found []string
			for e := range recorder.Events {
				found = append(found, e)
			}
			if all := strings.Join(found, "; "); len(found) > 1 || (all == "") != (tc.want == "") || !strings.Contains(all, tc.want) {
				t.Errorf("wanted %q, found %q", tc.want, all)
			}
		})
	}
}

// The collector learns what a run waits for, as pods that start or end are scraped more often.
func TestTheCollectorKnowsWhatARunWaitsFor(t *testing.T) {
	start := metav1.NewMicroTime(time.Unix(1_800_000_000, 0))
	pods := []lifecycle.Pod{
		{Index: 0, Name: "runs", IP: "198.18.0.1", State: lifecycle.PodRunning},
		{Index: 1, Name: "has no address", State: lifecycle.PodRunning},
		{Index: 2, Name: "has ended", IP: "198.18.0.2", State: lifecycle.PodEnded},
	}
	for name, tc := range map[string]struct {
		status v1alpha1.EtcdBenchmarkStatus
		want   collector.Phase
	}{
		"for its pods": {v1alpha1.EtcdBenchmarkStatus{}, collector.Phase{}},
		"for a start":  {v1alpha1.EtcdBenchmarkStatus{StartAt: &start}, collector.Phase{Start: start.Time}},
		"for an end":   {v1alpha1.EtcdBenchmarkStatus{StartAt: &start, Ending: &v1alpha1.Ending{}}, collector.Phase{Start: start.Time, Ends: true}},
	} {
		t.Run(name, func(t *testing.T) {
			found, phase := scraped(pods, &tc.status)
			if diff := cmp.Diff([]collector.Pod{{Index: 0, Name: "runs", IP: "198.18.0.1"}}, found); diff != "" || phase != tc.want {
				t.Errorf("got %+v, wanted %+v; pods (-want +got):\n%s", phase, tc.want, diff)
			}
		})
	}
}
