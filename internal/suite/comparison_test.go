package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// screened plays a suite with confirmRounds: the throughput of the new target is this share of the old one's, in the first
// rounds and in the fresh ones.
func screened(t *testing.T, first, fresh float64) (s *v1alpha1.EtcdBenchmarkSuite, freshRuns []Planned) {
	t.Helper()
	s = table(rounds(3), compared, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Compare.ConfirmRounds = 4 })
	Start(s, 1, now)
	for p, more := Then(s, false); more; p, more = Then(s, false) {
		perSecond := 5000 + 10*float64(p.Round%3)
		if p.Cell.Target.Name == "new" && p.Cell.Workload.Name == "put" && p.Cell.Load.Name == "c1" {
			if p.Round <= 3 {
				perSecond *= first
			} else {
				perSecond *= fresh
			}
			// The noise of the two sides is not the same.
			perSecond += float64(7 * p.Round % 5)
		}
		if p.Round > 3 {
			freshRuns = append(freshRuns, p)
		}
		Add(s, p, finished(fmt.Sprintf("%.3f", perSecond)), now)
	}
	return s, freshRuns
}

func TestFreshRoundsDecideWhatLooksWorse(t *testing.T) {
	for name, tc := range map[string]struct {
		first, fresh float64
		freshRuns    int
		want         v1alpha1.ComparisonVerdict
		rounds       int32
	}{
		"nothing looks worse": {1, 0.5, 0, v1alpha1.NotRegressed, 3},
		"a regression":        {0.8, 0.8, 8, v1alpha1.Regressed, 4},
		"a false alarm":       {0.8, 1, 8, v1alpha1.NotRegressed, 4},
		"slightly worse":      {0.98, 0.98, 8, v1alpha1.NotRegressed, 4},
	} {
		s, fresh := screened(t, tc.first, tc.fresh)
		if len(fresh) != tc.freshRuns {
			t.Errorf("%s: %d fresh runs, wanted %d", name, len(fresh), tc.freshRuns)
		}
		for _, p := range fresh {
			if p.Cell.Name != "new/put/c1" && p.Cell.Name != "old/put/c1" {
				t.Errorf("%s: %s runs again, and does not look worse", name, p.Cell.Name)
			}
		}
		for _, c := range s.Status.Comparisons {
			if c.Cell == "new/put/c1" && (c.Verdict != tc.want || c.Rounds != tc.rounds || c.Confirming != (tc.freshRuns > 0)) {
				t.Errorf("%s: found %+v", name, c)
			}
			if c.Cell != "new/put/c1" && (c.Verdict != v1alpha1.NotRegressed || c.Confirming) {
				t.Errorf("%s: found %+v", name, c)
			}
		}
		if want := int32(24 + tc.freshRuns); s.Status.Runs.Planned != want || s.Status.Runs.Finished != want {
			t.Errorf("%s: found %+v, wanted %d runs", name, s.Status.Runs, want)
		}
	}
}

// An operator that restarts between the rounds goes on from status.
func TestFreshRoundsFollowFromStatus(t *testing.T) {
	s, fresh := screened(t, 0.8, 0.8)
	cut := s.DeepCopy()
	cut.Status.Results = cut.Status.Results[:27]
	Update(cut)
	p, more := Next(cut)
	if want := fresh[3]; !more || p.Name != want.Name {
		t.Errorf("after 27 runs: %s, wanted %s", p.Name, want.Name)
	}
	if p, planned := find(cut, fresh[3].Name); !planned || p.Round != fresh[3].Round {
		t.Errorf("%s is not found by its name", fresh[3].Name)
	}
}

// A round in which the client pods of the two sides had other processors decides nothing.
func TestClientsOfBothSidesAreTheSame(t *testing.T) {
	s, _ := screened(t, 1, 1)
	for i := range s.Status.Results {
		s.Status.Results[i].Client = "a"
	}
	Update(s)
	if c := s.Status.Comparisons[0]; c.Reason == v1alpha1.ReasonEnvironmentDiffers {
		t.Fatalf("all clients are the same, and found %+v", c)
	}
	for i, r := range s.Status.Results {
		if r.Round == 2 && r.Cell == s.Status.Comparisons[0].Cell {
			s.Status.Results[i].Client = "b"
		}
	}
	first := s.Status.Comparisons[0].Cell
	Update(s)
	for _, c := range s.Status.Comparisons {
		if got, want := c.Reason == v1alpha1.ReasonEnvironmentDiffers, c.Cell == first; got != want {
			t.Errorf("%s: found %s %s, wanted EnvironmentDiffers: %v", c.Cell, c.Verdict, c.Reason, want)
		}
	}
}

// On equal storage, a build whose flushes take no time does not flush: nothing is concluded from its numbers.
func TestABuildThatDoesNotFlush(t *testing.T) {
	for unflushed, want := range map[string]string{"new": "The candidate does not flush its log to disk", "old": "The baseline does not flush its log to disk"} {
		s := table(rounds(3), compared, func(s *v1alpha1.EtcdBenchmarkSuite) {
			for i := range s.Spec.Targets {
				s.Spec.Targets[i].Target = v1alpha1.Target{Ephemeral: &v1alpha1.EphemeralTarget{Replicas: 1, Image: fmt.Sprint(i)}}
			}
		})
		play(t, s, ordinary)
		for i, r := range s.Status.Results {
			s.Status.Results[i].DataInMemory = strings.Contains(r.Cell, unflushed)
		}
		Update(s)
		for _, c := range s.Status.Comparisons {
			if c.Verdict != v1alpha1.NotCompared || c.Improved || c.Reason != v1alpha1.ReasonEnvironmentDiffers || !strings.HasPrefix(c.Message, want) || strings.Contains(c.Message, "memory") {
				t.Errorf("%s: found %s %s %q, wanted no verdict, and %q", unflushed, c.Verdict, c.Reason, c.Message, want)
			}
		}
		// The sentence stays if no round counts, for example because a build that does not flush overloads the load generator.
		valid := s.DeepCopy()
		for i := range s.Status.Results {
			s.Status.Results[i].Invalid = "its load generator was a limit"
		}
		Update(s)
		for _, c := range s.Status.Comparisons {
			if c.Verdict != v1alpha1.NotCompared || !strings.HasPrefix(c.Message, want) {
				t.Errorf("%s, without a valid round: found %s %s %q, wanted %q", unflushed, c.Verdict, c.Reason, c.Message, want)
			}
		}
		// What runs without an end measured says nothing about a build.
		for i := range s.Status.Results {
			s.Status.Results[i].Reason = v1alpha1.ReasonTargetUnreachable
		}
		Update(s)
		if c := s.Status.Comparisons[0]; strings.Contains(c.Message, "flush") {
			t.Errorf("%s, without a completed run: found %q", unflushed, c.Message)
		}
		s = valid
		s.Spec.Targets[0].Target.Ephemeral.Settings = map[string]v1alpha1.MemberSetting{"unsafe-no-fsync": "true"}
		Update(s)
		if c := s.Status.Comparisons[0]; c.Verdict != v1alpha1.NotRegressed || !strings.Contains(c.Message, "lay in memory.") {
			t.Errorf("with other settings: found %s %s %q", c.Verdict, c.Reason, c.Message)
		}
	}
}

// A suite that compares targets compares data in memory with data on disks on purpose: the verdict stands, and says so.
func TestTheComparedTargetsMayDiffer(t *testing.T) {
	for axis, want := range map[v1alpha1.Axis]string{v1alpha1.AxisTargets: "The data of the candidate lay in memory.", v1alpha1.AxisLoads: ""} {
		s := table(rounds(3), compared, func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Spec.Compare.Axis = axis
			if axis == v1alpha1.AxisLoads {
				s.Spec.Compare.Baseline.Entry = "c1"
			}
		})
		play(t, s, ordinary)
		for i, r := range s.Status.Results {
			s.Status.Results[i].DataInMemory = strings.Contains(r.Cell, "new") || axis == v1alpha1.AxisLoads && strings.Contains(r.Cell, "c100")
		}
		Update(s)
		for _, c := range s.Status.Comparisons {
			if c.Verdict != v1alpha1.NotRegressed || !strings.HasPrefix(c.Message, want) || strings.Contains(c.Message, "memory") != (want != "") {
				t.Errorf("axis %s: found %s %s %q, wanted a verdict with %q", axis, c.Verdict, c.Reason, c.Message, want)
			}
		}
	}
}
