package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// randomGuard adds random guard results, or none.
func randomGuard(r *rand.Rand, s *results.Snapshot) {
	at := func() time.Time { return testStart.Add(time.Duration(r.Int64N(1e12)) * time.Microsecond) }
	if r.IntN(3) == 0 {
		s.Fired = &results.Fired{Rule: guardRules[r.IntN(len(guardRules))], Subject: "etcd-1", Detail: "NOSPACE", Got: r.Float64(), Limit: float64(r.IntN(3)), At: at()}
	}
	if r.IntN(3) == 0 {
		s.Unwatched = map[spec.GuardRule]string{spec.GuardWALFsync: "etcd-1: 404", spec.GuardDatabaseSize: "silent"}
	}
	if r.IntN(2) == 0 {
		s.Clock = at()
	}
	if s.Target != nil && r.IntN(3) == 0 {
		s.Target.Changes = []results.Change{{Aspect: results.AspectLeader, Detail: "from a to b", At: testStart}, {Aspect: results.AspectVersion, Detail: "a from 3.6.0 to 3.7.3", At: testStart.Add(time.Second)}}
	}
	if s.Target != nil && r.IntN(3) == 0 {
		s.Target.Skipped = map[string]string{"etcd-1:2379": "refuses connections", "etcd-2:2379": "does not answer"}
	}
	if s.Target != nil && r.IntN(3) == 0 {
		s.Target.AnsweredBy = map[string][]string{"etcd:2379": {"a1", "b2"}, "etcd-1:2379": {"c3"}}
	}
	if s.Target != nil && r.IntN(3) == 0 {
		s.Target.Unlisted, s.Target.Unlocked = "etcd-1 did not answer", r.IntN(2) == 0
		s.Target.Notes = []string{"etcd-3 is a learner", "the leader is not known"}
		s.Target.Unobserved = map[results.Aspect]string{results.AspectLeader: "etcd-1 did not answer", results.AspectMembers: ""}
	}
	if s.Target != nil && r.IntN(3) == 0 {
		s.Target.Diagnosis = diagnosis(r.IntN(3))
	}
}

// diagnosis has this many findings.
func diagnosis(findings int) *results.Diagnosis {
	d := &results.Diagnosis{Looked: []string{"NoLeader", "SlowFlush"}, Unseen: []string{"m3"}, Undecided: []results.Undecided{{Kind: "NoLeader", Member: "m1", Why: "no metrics", Needs: "its metrics"}}}
	for i := range findings {
		d.Findings = append(d.Findings, results.Finding{Kind: "SlowFlush", Members: []string{"m1", "m2"}[i%2:], Message: strings.Repeat("slow ", i+1) + "flush", Limit: "p99 below 10ms", Source: "FAQ", Do: "buy disks"})
	}
	return d
}

// guarded adds all possible guard results.
func guarded(s *results.Snapshot) *results.Snapshot {
	s.Clock = testStart
	s.Fired = &results.Fired{Rule: spec.GuardDatabaseSize, Subject: "etcd-1", Got: 2, Limit: 1, At: testStart}
	s.Unwatched = map[spec.GuardRule]string{spec.GuardWALFsync: "etcd-1: 404"}
	s.Target.Changes = []results.Change{{Aspect: results.AspectLeader, Detail: "from a to b", At: testStart}}
	s.Target.Unlocked = true
	s.Target.Disk = &results.Disk{Device: "/dev/vda", FileSystem: "ext4", Options: "rw,relatime"}
	s.Target.Notes = []string{"the leader is not known"}
	s.Target.Skipped = map[string]string{"etcd-2:2379": "refuses connections"}
	s.Target.AnsweredBy = map[string][]string{"etcd:2379": {"a1", "b2"}}
	s.Target.Diagnosis = diagnosis(1)
	s.Target.Unlisted, s.Target.Unobserved = "no answer", map[results.Aspect]string{results.AspectVersion: "no answer"}
	return s
}

// The rule that fired is kept in a message without room for anything else.
func TestTheBareMessageHasTheRule(t *testing.T) {
	s := &results.Snapshot{RunUID: "u", Stage: results.StageDone, Fired: &results.Fired{Rule: spec.GuardDatabaseSize, Subject: "etcd-0", Got: 5, Limit: 4, At: testStart}}
	want := &results.Fired{Rule: spec.GuardDatabaseSize, Got: 5, Limit: 4, At: testStart}
	if diff := cmp.Diff(want, bare(s).Fired); diff != "" {
		t.Errorf("fired (-want +got):\n%s", diff)
	}
}

func TestDecodeRefusesGuardsThatAreNone(t *testing.T) {
	tests := map[string]func(*results.Snapshot){
		"a rule that is none":    func(s *results.Snapshot) { s.Fired = &results.Fired{Rule: "Mood", At: testStart} },
		"a rule without a name":  func(s *results.Snapshot) { s.Fired = &results.Fired{Got: 1, At: testStart} },
		"unwatched, and no rule": func(s *results.Snapshot) { s.Unwatched = map[spec.GuardRule]string{"Mood": ""} },
		"a change of nothing": func(s *results.Snapshot) {
			s.Target = &results.Target{Changes: []results.Change{{Aspect: "Mood", At: testStart}}}
		},
		"more changes than it may": func(s *results.Snapshot) { s.Target = &results.Target{Changes: manyChanges(results.MaxChanges + 1)} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			s := &results.Snapshot{RunUID: "u"}
			change(s)
			if got, err := Decode(withTimeline(s)); err == nil {
				t.Errorf("decoded %+v, wanted an error", got)
			}
		})
	}
}

func manyChanges(n int) (all []results.Change) {
	for i := range n {
		all = append(all, results.Change{Aspect: results.AspectLeader, Detail: strings.Repeat("x", i), At: testStart})
	}
	return all
}
