package verdict

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Numbers of members that do not flush, have their data in memory, differ or get lost say so.
func TestAMemberWhoseMetricsTellItsLoss(t *testing.T) {
	b := &v1alpha1.EtcdBenchmark{Status: v1alpha1.EtcdBenchmarkStatus{Ephemeral: &v1alpha1.EphemeralStatus{}}}
	for unknown, want := range map[string]int{results.UnknownRestarted: 1, results.UnknownAtEnd + results.UnreadMetrics + "no answer": 0, "": 0} {
		s := results.Summary{Target: &results.Target{Members: []results.Member{{ID: "a", Window: &results.MemberWindow{Unknown: unknown}}}}}
		if got := Concerns(b, s); len(got) != want {
			t.Errorf("%q: found the concerns %v, wanted %d", unknown, got, want)
		}
	}
}

func TestMembersOfTheRun(t *testing.T) {
	pods := func(images ...string) (out []v1alpha1.MemberPod) {
		for _, i := range images {
			out = append(out, v1alpha1.MemberPod{Name: "m", ImageID: i})
		}
		return out
	}
	unread := &v1alpha1.EphemeralStatus{ClassUnread: true}
	if w := strings.Join(Warnings(&v1alpha1.EtcdBenchmark{Spec: v1alpha1.EtcdBenchmarkSpec{Target: v1alpha1.Target{Ephemeral: &v1alpha1.EphemeralTarget{}}}, Status: v1alpha1.EtcdBenchmarkStatus{Ephemeral: unread}}, results.Summary{Merged: &results.Snapshot{}}), " "); !strings.Contains(w, "may not read storage classes") {
		t.Errorf("found %q, wanted a warning about the volumes", w)
	}
	disk := &v1alpha1.EtcdBenchmark{Status: v1alpha1.EtcdBenchmarkStatus{Target: &v1alpha1.TargetStatus{ClassUnread: true}}}
	if w := strings.Join(Warnings(disk, results.Summary{Merged: &results.Snapshot{}}), " "); !strings.Contains(w, "those of the client pods are left") {
		t.Errorf("found %q, wanted a warning about the volumes", w)
	}
	lost := pods("a", "a")
	lost[1].Lost = "ended with exit code 137 (OOMKilled)"
	memory := &v1alpha1.MemberStorage{EmptyDir: &v1alpha1.MemberEmptyDir{Medium: corev1.StorageMediumMemory}}
	for name, tc := range map[string]struct {
		target v1alpha1.EphemeralTarget
		pods   []v1alpha1.MemberPod
		// concern and warning are parts of the text; empty for none.
		concern, warning string
	}{
		"nothing":       {v1alpha1.EphemeralTarget{Settings: map[string]v1alpha1.MemberSetting{"unsafe-no-fsync": "false"}}, pods("a", "a"), "", ""},
		"no sync":       {v1alpha1.EphemeralTarget{Settings: map[string]v1alpha1.MemberSetting{"forceSync": "no"}}, nil, "", "forceSync"},
		"no flush":      {v1alpha1.EphemeralTarget{Settings: map[string]v1alpha1.MemberSetting{"unsafe-no-fsync": "true"}}, nil, "", "unsafe-no-fsync"},
		"in memory":     {v1alpha1.EphemeralTarget{Storage: memory}, nil, "", "in memory"},
		"two images":    {v1alpha1.EphemeralTarget{}, pods("a", "b", "a"), v1alpha1.ReasonMembersDiffer, ""},
		"a lost member": {v1alpha1.EphemeralTarget{}, lost, v1alpha1.ReasonMembersLost, "Member 1 (m) ended with exit code 137 (OOMKilled)."},
	} {
		t.Run(name, func(t *testing.T) {
			b := &v1alpha1.EtcdBenchmark{}
			b.Spec.Target.Ephemeral, b.Status.Ephemeral = &tc.target, &v1alpha1.EphemeralStatus{Pods: tc.pods}
			concerns, warnings := strings.Join(Concerns(b, results.Summary{}), " "), strings.Join(Warnings(b, results.Summary{Merged: &results.Snapshot{}}), " ")
			if concerns != tc.concern || !strings.Contains(warnings, tc.warning) || (tc.warning == "") != (warnings == "") {
				t.Errorf("found %q and %q, wanted %q and %q", concerns, warnings, tc.concern, tc.warning)
			}
		})
	}
}
