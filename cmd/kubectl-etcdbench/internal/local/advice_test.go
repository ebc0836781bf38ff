package local

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Only pods of a cluster have resources that can be raised, and only a run without a profile has a load that can be
// changed.
func TestAdviceFitsThisMachine(t *testing.T) {
	const ofClusters = "Raise spec.pod.resources."
	cases := map[v1alpha1.ValidityCause]bool{
		v1alpha1.CauseThrottled: true,
		v1alpha1.CauseBusy:      true,
		v1alpha1.CauseDelayed:   true,
		v1alpha1.CauseLoop:      true,
		v1alpha1.CauseLate:      true,
		v1alpha1.CauseUnread:    false,
	}
	for cause, want := range cases {
		for _, profile := range []v1alpha1.Profile{"", v1alpha1.ProfileSmall} {
			run := &v1alpha1.EtcdBenchmark{Spec: v1alpha1.EtcdBenchmarkSpec{Profile: profile}}
			run.Status.Summary = &v1alpha1.Summary{Validity: &v1alpha1.Validity{Reasons: []v1alpha1.ValidityReason{{Cause: cause, Change: ofClusters}}}}
			advise(run)
			got := run.Status.Summary.Validity.Reasons[0].Change
			if (got != ofClusters) != want || got == "" || want && profile != "" && strings.Contains(got, "spec.") {
				t.Errorf("%s, profile %q: got %q", cause, profile, got)
			}
		}
	}
}
