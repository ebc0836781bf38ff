package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// The checks of a run that only observes are judged like objectives, with what to do.
func TestChecksOfARunThatOnlyObserves(t *testing.T) {
	looked := []string{"NoLeader", "SlowFlush", "LargeDatabase"}
	slow := results.Finding{Kind: "SlowFlush", Members: []string{"m2"}, Message: strings.Repeat("slow ", 200), Do: "Buy disks."}
	open := results.Undecided{Kind: "LargeDatabase", Member: "m1", Why: "no metrics", Needs: "its metrics"}
	for name, tc := range map[string]struct {
		found  *results.Diagnosis
		want   []v1alpha1.ObjectiveResult
		passed string
	}{
		"nothing":                         {&results.Diagnosis{Looked: looked}, []v1alpha1.ObjectiveResult{"Met", "Met", "Met"}, "True"},
		"a finding":                       {&results.Diagnosis{Looked: looked, Findings: []results.Finding{slow}, Undecided: []results.Undecided{open}}, []v1alpha1.ObjectiveResult{"Missed", "Unknown", "Met"}, "False"},
		"undecided":                       {&results.Diagnosis{Looked: looked, Undecided: []results.Undecided{open}}, []v1alpha1.ObjectiveResult{"Unknown", "Met", "Met"}, "Unknown"},
		"a member that was not looked at": {&results.Diagnosis{Looked: looked, Findings: []results.Finding{slow}, Unseen: []string{"m3"}}, []v1alpha1.ObjectiveResult{"Missed", "Unknown", "Met"}, "False"},
		"no look":                         {nil, []v1alpha1.ObjectiveResult{"Unknown"}, "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 3, func(s *results.Snapshot) { s.Target = &results.Target{Diagnosis: tc.found} })})
			b := runtest.Puts(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Workload = spec.Workload{Type: spec.WorkloadObserve} })
			got, passed := Judge(b, &s, v1alpha1.ReasonCompleted)
			var found []v1alpha1.ObjectiveResult
			for _, o := range got {
				found = append(found, o.Result)
				if len(o.Message) > v1alpha1.MaxMessageLength || o.Result == v1alpha1.ObjectiveMissed && (!strings.HasSuffix(o.Message, "Buy disks.") || !strings.Contains(o.Got, "m2") || o.Wanted == "") {
					t.Errorf("found %+v", o)
				}
			}
			if !slices.Equal(found, tc.want) || string(passed.Status) != tc.passed {
				t.Errorf("found %v and %+v, wanted %v and %s", found, passed, tc.want, tc.passed)
			}
		})
	}
}
