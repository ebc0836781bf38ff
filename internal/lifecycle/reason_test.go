package lifecycle

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The documented reasons of refused targets become reasons of conditions. Reasons that no client pod of this version
// sends do not.
func TestReasonsOfClientPods(t *testing.T) {
	tests := map[results.FailureReason]string{
		results.FailureNoQuorum:           v1alpha1.ReasonNoQuorum,
		results.FailureAlarmRaised:        v1alpha1.ReasonAlarmRaised,
		results.FailureQuotaInsufficient:  v1alpha1.ReasonQuotaInsufficient,
		results.FailureControlPlaneTarget: v1alpha1.ReasonControlPlaneTarget,
		results.FailureUnsupported:        v1alpha1.ReasonUnsupported,
		results.FailurePrefixNotEmpty:     v1alpha1.ReasonPrefixNotEmpty,
		results.FailureTargetUnhealthy:    v1alpha1.ReasonTargetUnhealthy,
		"Completed":                       v1alpha1.ReasonPodFailed,
		"<script>":                        v1alpha1.ReasonPodFailed,
	}
	for reason, want := range tests {
		if got := knownReason(reason); got != want {
			t.Errorf("%s became %s, wanted %s", reason, got, want)
		}
	}
}
