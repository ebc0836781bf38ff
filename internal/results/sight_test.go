package results

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What client pod 0 saw of the target and could not tell is not what did not
// happen.
func TestATargetThatWasNotToldIsUnseen(t *testing.T) {
	target := func() *Target { return randomTarget(rand.New(rand.NewPCG(1, 1)), 3) }
	tests := map[string]struct {
		first, second *Snapshot
		unseen        int
	}{
		"told":                 {&Snapshot{Target: target()}, &Snapshot{Index: 1}, 0},
		"told, by both":        {&Snapshot{Target: target()}, &Snapshot{Index: 1, Target: target(), Omitted: []string{omittedFigures}}, 0},
		"left out by another":  {&Snapshot{Target: target()}, &Snapshot{Index: 1, Omitted: []string{omittedTarget}}, 0},
		"left out":             {&Snapshot{Omitted: []string{omittedTarget}}, &Snapshot{Index: 1}, len(aspects)},
		"told by another only": {&Snapshot{Omitted: []string{omittedTarget}}, &Snapshot{Index: 1, Target: target()}, len(aspects)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Summarize([]*Snapshot{tc.first, tc.second}).Target
			if got == nil || len(got.Unseen) != tc.unseen {
				t.Fatalf("target %+v, wanted %d aspects of it unseen", got, tc.unseen)
			}
			if tc.second.Target != nil && len(got.Members) != 3 {
				t.Errorf("%d members, wanted those that a pod told of", len(got.Members))
			}
		})
	}
}

// The reasons reach people also where nothing is judged.
func TestWhatWasNotSeenIsAWarning(t *testing.T) {
	s := &Snapshot{RunUID: "a", Target: &Target{Unlisted: "no majority", Unseen: map[Aspect]string{AspectVersion: "no answer"}}}
	got := strings.Join(Summarize([]*Snapshot{s}).Warnings, "\n")
	for _, says := range []string{"no majority", "Version", "no answer"} {
		if !strings.Contains(got, says) {
			t.Errorf("warnings %q say nothing of %q", got, says)
		}
	}
}
