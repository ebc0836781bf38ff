package report

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Whose members a flag has started is repeated with that flag: their addresses lead nowhere.
func TestARunOnItsOwnMembersIsRepeated(t *testing.T) {
	described := &v1alpha1.EphemeralTarget{Replicas: 3}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.EtcdBenchmark)
		want   bool
	}{
		"members of a flag":         {func(run *v1alpha1.EtcdBenchmark) {}, true},
		"members of the manifest":   {func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.Ephemeral = described }, false},
		"members that were running": {func(run *v1alpha1.EtcdBenchmark) { run.Status.Ephemeral = nil }, false},
	} {
		run := measured(t, "puts", 1e6).Object
		run.ResourceVersion, run.Status.Ephemeral = "", &v1alpha1.EphemeralStatus{Pods: make([]v1alpha1.MemberPod, 3)}
		tc.change(run)
		if got := OfRun(run, nil).Page().Repeat.Command; strings.HasSuffix(got, " --members 3") != tc.want || !strings.Contains(got, "--local") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
