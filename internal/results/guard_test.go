package results

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// randomGuard adds what a guard may have seen, or nothing.
func randomGuard(r *rand.Rand, s *Snapshot) {
	at := func() time.Time { return testStart.Add(time.Duration(r.Int64N(1e12)) * time.Microsecond) }
	if r.IntN(3) == 0 {
		s.Fired = &Fired{Rule: guardRules[r.IntN(len(guardRules))], Subject: "etcd-1", Detail: "NOSPACE", Got: r.Float64(), Limit: float64(r.IntN(3)), At: at()}
	}
	if r.IntN(3) == 0 {
		s.Unwatched = map[GuardRule]string{GuardWALFsync: "etcd-1: 404", GuardDatabaseSize: "silent"}
	}
	if r.IntN(2) == 0 {
		s.Clock = at()
	}
	if s.Target != nil && r.IntN(3) == 0 {
		s.Target.Changes = []Change{{AspectLeader, "from a to b", testStart}, {AspectVersion, "a from 3.6.0 to 3.7.3", testStart.Add(time.Second)}}
	}
	if s.Target != nil && r.IntN(3) == 0 {
		s.Target.Unlisted = "etcd-1 did not answer"
		s.Target.Unseen = map[Aspect]string{AspectLeader: "etcd-1 did not answer", AspectMembers: ""}
	}
}

// guarded adds all that a guard can have seen.
func guarded(s *Snapshot) *Snapshot {
	s.Clock = testStart
	s.Fired = &Fired{Rule: GuardDatabaseSize, Subject: "etcd-1", Got: 2, Limit: 1, At: testStart}
	s.Unwatched = map[GuardRule]string{GuardWALFsync: "etcd-1: 404"}
	s.Target.Changes = []Change{{AspectLeader, "from a to b", testStart}}
	s.Target.Unlisted, s.Target.Unseen = "no answer", map[Aspect]string{AspectVersion: "no answer"}
	return s
}

func TestMergeKeepsTheRuleThatFiredFirst(t *testing.T) {
	first := &Fired{Rule: GuardAlarm, At: testStart}
	second := &Fired{Rule: GuardErrorRatio, At: testStart.Add(1)}
	for _, order := range [][]*Snapshot{
		{{Fired: first}, {Fired: second}, {}},
		{{}, {Fired: second}, {Fired: first}},
	} {
		if got := Merge(order).Fired; got != first {
			t.Errorf("got %+v, wanted the first", got)
		}
	}
}

func TestMergeSaysWhatWasUnwatchedAnywhere(t *testing.T) {
	a := &Snapshot{Unwatched: map[GuardRule]string{GuardWALFsync: "a", GuardAlarm: "c"}}
	b := &Snapshot{Unwatched: map[GuardRule]string{GuardWALFsync: "b"}}
	want := map[GuardRule]string{GuardWALFsync: "a", GuardAlarm: "c"}
	for _, order := range [][]*Snapshot{{a, b}, {b, a}} {
		if diff := cmp.Diff(want, Merge(order).Unwatched); diff != "" {
			t.Errorf("unwatched (-want +got):\n%s", diff)
		}
	}
	if warnings := Summarize([]*Snapshot{a, b}).Warnings; !strings.Contains(strings.Join(warnings, "\n"), "WALFsync of guard.stopOn was not watched all the time: a") {
		t.Errorf("warnings %q, wanted one of the rule and its reason", warnings)
	}
}

// The rule that fired survives a message that has room for nothing else.
func TestTheBareMessageHasTheRule(t *testing.T) {
	s := &Snapshot{RunUID: "u", Stage: StageDone, Fired: &Fired{Rule: GuardDatabaseSize, Subject: "etcd-0", Got: 5, Limit: 4, At: testStart}}
	want := &Fired{Rule: GuardDatabaseSize, Got: 5, Limit: 4, At: testStart}
	if diff := cmp.Diff(want, s.bare().Fired); diff != "" {
		t.Errorf("fired (-want +got):\n%s", diff)
	}
}

func TestDecodeRefusesGuardsThatAreNone(t *testing.T) {
	tests := map[string]func(*Snapshot){
		"a rule that is none":      func(s *Snapshot) { s.Fired = &Fired{Rule: "Mood", At: testStart} },
		"a rule without a name":    func(s *Snapshot) { s.Fired = &Fired{Got: 1, At: testStart} },
		"unwatched, and no rule":   func(s *Snapshot) { s.Unwatched = map[GuardRule]string{"Mood": ""} },
		"a change of nothing":      func(s *Snapshot) { s.Target = &Target{Changes: []Change{{"Mood", "", testStart}}} },
		"more changes than it may": func(s *Snapshot) { s.Target = &Target{Changes: manyChanges(MaxChanges + 1)} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			s := &Snapshot{RunUID: "u"}
			change(s)
			if got, err := Decode(s.Families()); err == nil {
				t.Errorf("decoded %+v, wanted an error", got)
			}
		})
	}
}

func manyChanges(n int) (all []Change) {
	for i := range n {
		all = append(all, Change{AspectLeader, strings.Repeat("x", i), testStart})
	}
	return all
}
