package controllers

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/events"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Pods that fall silent together have one event, which says how many they are.
func TestSilentPodsHaveOneEvent(t *testing.T) {
	pod := func(name, message string) v1alpha1.PodStatus { return v1alpha1.PodStatus{Name: name, Message: message} }
	before := []v1alpha1.PodStatus{pod("a", ""), pod("b", ""), pod("c", notScraped+"refused")}
	tests := map[string]struct {
		now  []v1alpha1.PodStatus
		want string
	}{
		"none":                {before, ""},
		"one":                 {[]v1alpha1.PodStatus{pod("a", ""), pod("b", notScraped+"timeout"), before[2]}, "Client pod 0 (b): " + notScraped + "timeout"},
		"several":             {[]v1alpha1.PodStatus{pod("a", notScraped+"timeout"), pod("b", notScraped+"timeout"), before[2]}, "2 client pods cannot be scraped. Client pod 0 (a)"},
		"one that is not old": {[]v1alpha1.PodStatus{pod("new", notScraped+"timeout")}, "Client pod 0 (new)"},
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
