package members

import (
	"cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// enoughSights is how often something must have been seen for a change of it to
// be noticed.
const enoughSights = 2

// sights counts in how many views something was seen. The zero value is ready.
type sights struct {
	views, leader, voters int
	versions              map[string]int
	// silent has the last reason of each member for which it said nothing.
	silent map[string]string
	// silence is the last of all.
	silence string
}

func (s *sights) add(v View, name func(id string) string) {
	if s.versions == nil {
		s.versions, s.silent = map[string]int{}, map[string]string{}
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
			s.silent[id] = name(id) + " did not say how it is: " + state.Problem
		}
	}
	for _, id := range v.IDs() {
		s.silence = cmp.Or(s.silent[id], s.silence)
	}
}

// Unseen says, of what was not seen often enough for a change to be noticed,
// why. Before the second view nothing can be told.
func (c *Changes) Unseen() map[results.Aspect]string {
	s, unseen := &c.sights, map[results.Aspect]string{}
	if s.views < enoughSights {
		return nil
	}
	if s.leader < enoughSights {
		unseen[results.AspectLeader] = cmp.Or(s.silence, "no member knew one")
	}
	if s.voters < enoughSights {
		unseen[results.AspectMembers] = "nobody listed the voting members while the load went on"
	}
	for id, seen := range s.versions {
		if why := cmp.Or(s.silent[id], c.name(id)+" told none"); seen < enoughSights && why > unseen[results.AspectVersion] {
			unseen[results.AspectVersion] = why
		}
	}
	if len(unseen) == 0 {
		return nil
	}
	return unseen
}
