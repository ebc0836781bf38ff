package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// TestATargetThatStarts: a run waits for members that are not ready, for as long as its pods may take to be scheduled.
func TestATargetThatStarts(t *testing.T) {
	found := func(starting int, changes ...change) Observed {
		return scenario(append(changes, func(o *Observed) { o.Target = Target{Endpoints: []string{"a:1", "b:1"}, Starting: starting} })...)
	}
	skips := func(o *Observed) { o.Run.Spec.Target.UnreachableMembers = spec.UnreachableSkip }
	first := func(o *Observed) { o.Run.Status.StartTime = nil }
	tests := map[string]struct {
		seen  Observed
		at    time.Duration
		waits bool
	}{
		"all are ready":        {found(0), 0, false},
		"one is not":           {found(1), 0, true},
		"one is not, at first": {found(1, first), 0, true},
		"nearly too late":      {found(1), 59 * time.Second, true},
		"too late":             {found(1), 60 * time.Second, false},
		"one may be skipped":   {found(1, skips), 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(tc.at))
			want := []string{"a:1", "b:1"}
			if tc.waits {
				want = nil
			}
			if !slices.Equal(d.Endpoints, want) || d.Requeue == 0 || strings.Contains(d.Message, "unreachableMembers") != tc.waits {
				t.Errorf("wanted the addresses %v, found %+v", want, d)
			}
		})
	}
}
