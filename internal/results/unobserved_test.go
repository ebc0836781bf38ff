package results

import (
	"testing"
)

// If client pod 0's observations of the target are lost, a change cannot be ruled out.
func TestALostViewOfTheTargetIsUnobserved(t *testing.T) {
	target := func() *Target { return &Target{ClusterID: "a", Members: make([]Member, 3)} }
	tests := map[string]struct {
		first, second *Snapshot
		unobserved    int
	}{
		"reported":                 {&Snapshot{Target: target()}, &Snapshot{Index: 1}, 0},
		"reported by both":         {&Snapshot{Target: target()}, &Snapshot{Index: 1, Target: target(), Omitted: []string{"server figures"}}, 0},
		"left out by another":      {&Snapshot{Target: target()}, &Snapshot{Index: 1, Omitted: []string{OmittedTarget}}, 0},
		"left out":                 {&Snapshot{Omitted: []string{OmittedTarget}}, &Snapshot{Index: 1}, len(Aspects)},
		"reported by another only": {&Snapshot{Omitted: []string{OmittedTarget}}, &Snapshot{Index: 1, Target: target()}, len(Aspects)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Summarize([]*Snapshot{tc.first, tc.second}).Target
			if got == nil || len(got.Unobserved) != tc.unobserved {
				t.Fatalf("target %+v, wanted %d aspects of it unobserved", got, tc.unobserved)
			}
			if tc.second.Target != nil && len(got.Members) != 3 {
				t.Errorf("%d members, wanted those that a pod reported", len(got.Members))
			}
		})
	}
}
