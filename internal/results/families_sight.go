package results

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// sightFamilies are what the pod could not see of the target.
func sightFamilies() []family { return []family{unlistedFamily(), unseenFamily()} }

func unlistedFamily() family {
	return family{
		name: "etcdbench_target_unlisted_info", help: "Why the members of the etcd cluster under load could not be listed.",
		kind: dto.MetricType_GAUGE, labels: []string{"reason"},
		write: func(s *Snapshot, emit func(metric)) {
			if s.Target != nil && s.Target.Unlisted != "" {
				emit(metric{labels: []string{s.Target.Unlisted}, value: 1})
			}
		},
		read: func(s *Snapshot, m metric) error {
			if m.labels[0] == "" || s.target().Unlisted != "" {
				return errors.New("wanted one reason why the members were not listed, found none or two")
			}
			s.target().Unlisted = m.labels[0]
			return nil
		},
	}
}

func unseenFamily() family {
	return family{
		name: "etcdbench_target_unseen_info", help: "Why it is not known whether this changed of the target.",
		kind: dto.MetricType_GAUGE, labels: []string{"aspect", "reason"},
		write: func(s *Snapshot, emit func(metric)) {
			for _, a := range s.Target.unseen() {
				emit(metric{labels: []string{string(a), s.Target.Unseen[a]}, value: 1})
			}
		},
		read: func(s *Snapshot, m metric) error {
			aspect, target := Aspect(m.labels[0]), s.target()
			if _, twice := target.Unseen[aspect]; twice || !slices.Contains(aspects, aspect) {
				return fmt.Errorf("wanted each of %v at most once, found %.64q", aspects, aspect)
			}
			if target.Unseen == nil {
				target.Unseen = map[Aspect]string{}
			}
			target.Unseen[aspect] = m.labels[1]
			return nil
		},
	}
}

// unseen has the aspects in one order on every road.
func (t *Target) unseen() []Aspect {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.Unseen))
}

// watchedTarget is the target as client pod 0 tells of it, which alone watches
// it. What others say holds, but not that nothing has changed.
func watchedTarget(merged *Target, snapshots []*Snapshot) *Target {
	lost := func(s *Snapshot) bool {
		return s != nil && s.Index == 0 && s.Target == nil && slices.Contains(s.Omitted, omittedTarget)
	}
	if !slices.ContainsFunc(snapshots, lost) {
		return merged
	}
	out := Target{Unseen: map[Aspect]string{}}
	if merged != nil {
		out.ClusterID, out.Members = merged.ClusterID, merged.Members
	}
	for _, a := range aspects {
		out.Unseen[a] = "the termination message of client pod 0, which saw it, had no room for it"
	}
	return &out
}

// warnings of what was not seen of the target.
func (t *Target) warnings(warn warner) {
	if t == nil {
		return
	}
	warn(t.Unlisted != "", "which members the target has is not known: %s", t.Unlisted)
	for _, a := range t.unseen() {
		warn(true, "whether the target changed under the run (%s) is not known: %s", a, t.Unseen[a])
	}
}
