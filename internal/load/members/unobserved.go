package members

import (
	"cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// minViews is how many views must show something before a change of it can be noticed.
const minViews = 2

// viewCounts counts in how many views something was reported. The zero value is ready.
type viewCounts struct {
	views, leader, voters int
	versions              map[string]int
	// problems has the last problem of each member.
	problems map[string]string
	// lastProblem is the last of all.
	lastProblem string
}

func (s *viewCounts) add(v View, name func(id string) string) {
	if s.versions == nil {
		s.versions, s.problems = map[string]int{}, map[string]string{}
	}
	s.views++
	if leader, _ := v.Election(); leader != "" {
		s.leader++
	}
	if v.Voters != nil {
		s.voters++
	}
	for id, state := range v.Members {
		s.versions[id] += 0
		if state.Version != "" {
			s.versions[id]++
		}
		if state.Problem != "" {
			s.problems[id] = name(id) + " did not report its status: " + state.Problem
		}
	}
	for _, id := range v.IDs() {
		s.lastProblem = cmp.Or(s.problems[id], s.lastProblem)
	}
}

// Unobserved returns what was not reported often enough to notice a change, with the reason. It is nil before the second
// view.
func (c *Changes) Unobserved() map[results.Aspect]string {
	s, unobserved := &c.counts, map[results.Aspect]string{}
	if s.views < minViews {
		return nil
	}
	if s.leader < minViews {
		unobserved[results.AspectLeader] = cmp.Or(s.lastProblem, "no member reported a leader")
	}
	if s.voters < minViews {
		unobserved[results.AspectMembers] = "no member listed the voting members during the load"
	}
	for id, seen := range s.versions {
		if why := cmp.Or(s.problems[id], c.name(id)+" did not report its version"); seen < minViews && why > unobserved[results.AspectVersion] {
			unobserved[results.AspectVersion] = why
		}
	}
	if len(unobserved) == 0 {
		return nil
	}
	return unobserved
}
