package wire

import (
	"errors"
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// unobservedFamilies describe which parts of the target the pod could not observe.
func unobservedFamilies() []family {
	return []family{unlistedFamily(), noteFamily(), unlockedFamily(), skippedFamily(), answeredFamily(), aspectFamily()}
}

func unlistedFamily() family {
	return family{
		name: "etcdbench_target_unlisted_info", help: "Why the members of the etcd cluster under load could not be listed.",
		kind: dto.MetricType_GAUGE, labels: []string{"reason"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target != nil && s.Target.Unlisted != "" {
				emit(metric{labels: []string{s.Target.Unlisted}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			if m.labels[0] == "" || targetOf(s).Unlisted != "" {
				return errors.New("wanted one reason why the members were not listed, found none or more than one")
			}
			targetOf(s).Unlisted = m.labels[0]
			return nil
		},
	}
}

// maxNotes bounds the notes of a pod.
const maxNotes = 16

func noteFamily() family {
	return family{
		name: "etcdbench_target_note_info", help: "A fact about the target that limits what the result shows.",
		kind: dto.MetricType_GAUGE, labels: []string{"note"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target == nil {
				return
			}
			for _, note := range s.Target.Notes[:min(len(s.Target.Notes), maxNotes)] {
				emit(metric{labels: []string{note}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			if m.labels[0] == "" || len(targetOf(s).Notes) == maxNotes {
				return fmt.Errorf("wanted at most %d notes about the target, found more, or an empty one", maxNotes)
			}
			targetOf(s).Notes = append(targetOf(s).Notes, m.labels[0])
			return nil
		},
	}
}

func unlockedFamily() family {
	return family{
		name: "etcdbench_target_unlocked", help: "1 if the target has no lock that keeps other runs away.",
		kind: dto.MetricType_GAUGE,
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target != nil && s.Target.Unlocked {
				emit(metric{value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			targetOf(s).Unlocked = m.value == 1
			return nil
		},
	}
}

func skippedFamily() family {
	return family{
		name: "etcdbench_target_skipped_info", help: "Why this address of the target got no load.",
		kind: dto.MetricType_GAUGE, labels: []string{"address", "reason"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target == nil {
				return
			}
			for _, address := range sortedKeys(s.Target.Skipped) {
				emit(metric{labels: []string{address, s.Target.Skipped[address]}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			target := targetOf(s)
			if _, twice := target.Skipped[m.labels[0]]; twice || m.labels[1] == "" {
				return fmt.Errorf("wanted one reason for each address, found none or more than one for %.64q", m.labels[0])
			}
			if target.Skipped == nil {
				target.Skipped = map[string]string{}
			}
			target.Skipped[m.labels[0]] = m.labels[1]
			return nil
		},
	}
}

func answeredFamily() family {
	return family{
		name: "etcdbench_target_answered_info", help: "This member answered requests of the load at this address.",
		kind: dto.MetricType_GAUGE, labels: []string{"address", "member_id"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target == nil {
				return
			}
			for _, address := range sortedKeys(s.Target.AnsweredBy) {
				ids := s.Target.AnsweredBy[address]
				for _, id := range ids[:min(len(ids), maxMembers)] {
					emit(metric{labels: []string{address, id}, value: 1})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			target, address, id := targetOf(s), m.labels[0], m.labels[1]
			if ids := target.AnsweredBy[address]; slices.Contains(ids, id) || len(ids) == maxMembers {
				return fmt.Errorf("wanted at most %d different members at each address, found more at %.64q, or one twice", maxMembers, address)
			}
			if target.AnsweredBy == nil {
				target.AnsweredBy = map[string][]string{}
			}
			target.AnsweredBy[address] = append(target.AnsweredBy[address], id)
			return nil
		},
	}
}

func aspectFamily() family {
	return family{
		name: "etcdbench_target_unobserved_info", help: "Why a change of this aspect of the target could not be observed.",
		kind: dto.MetricType_GAUGE, labels: []string{"aspect", "reason"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, a := range aspectsOf(s.Target) {
				emit(metric{labels: []string{string(a), s.Target.Unobserved[a]}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			aspect, target := results.Aspect(m.labels[0]), targetOf(s)
			if _, twice := target.Unobserved[aspect]; twice || !slices.Contains(results.Aspects, aspect) {
				return fmt.Errorf("wanted each of %v at most once, found %.64q", results.Aspects, aspect)
			}
			if target.Unobserved == nil {
				target.Unobserved = map[results.Aspect]string{}
			}
			target.Unobserved[aspect] = m.labels[1]
			return nil
		},
	}
}

// aspectsOf returns the aspects in the same order for both forms.
func aspectsOf(t *results.Target) []results.Aspect {
	if t == nil {
		return nil
	}
	return sortedKeys(t.Unobserved)
}
