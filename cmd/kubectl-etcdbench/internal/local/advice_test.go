package local

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Only pods of a cluster have resources that can be raised.
func TestAdviceFitsThisMachine(t *testing.T) {
	const ofClusters = "Raise spec.pod.resources."
	cases := map[v1alpha1.ValidityCause]struct{ replaced, replacedIfEmbedded bool }{
		v1alpha1.CauseThrottled: {true, true},
		v1alpha1.CauseBusy:      {true, true},
		v1alpha1.CauseDelayed:   {true, true},
		v1alpha1.CauseLoop:      {true, true},
		v1alpha1.CauseLate:      {true, true},
		v1alpha1.CauseUnread:    {false, true},
	}
	for cause, tc := range cases {
		for members, want := range map[int]bool{0: tc.replaced, 1: tc.replacedIfEmbedded} {
			v := &v1alpha1.Validity{Reasons: []v1alpha1.ValidityReason{{Cause: cause, Change: ofClusters}}}
			Options{EmbeddedMembers: members}.advise(v)
			if got := v.Reasons[0].Change; (got != ofClusters) != want || got == "" {
				t.Errorf("%s, %d embedded members: got %q", cause, members, got)
			}
		}
	}
}
