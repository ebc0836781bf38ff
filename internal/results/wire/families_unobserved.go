package wire

import (
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// unobservedFamilies describe which parts of the target the pod could not observe.
func unobservedFamilies() []family {
	return []family{
		textOf(target, "etcdbench_target_unlisted_info", "Why the members of the etcd cluster under load could not be listed.", "reason",
			func(t *results.Target) *string { return &t.Unlisted }),
		list(target, "etcdbench_target_note_info", "A fact about the target that limits what the result shows.", "note", maxNotes,
			func(t *results.Target) *[]string { return &t.Notes }),
		gauge(target, "etcdbench_target_unlocked", "1 if the target has no lock that keeps other runs away.",
			rareFlags, func(t *results.Target) *bool { return &t.Unlocked }),
		reasons(target, "etcdbench_target_skipped_info", "Why this address of the target got no load.", "address",
			func(t *results.Target) *map[string]string { return &t.Skipped }, func(_, reason string) bool { return reason == "" }),
		answeredFamily(),
		reasons(target, "etcdbench_target_unobserved_info", "Why a change of this aspect of the target could not be observed.", "aspect",
			func(t *results.Target) *map[results.Aspect]string { return &t.Unobserved },
			func(a results.Aspect, _ string) bool { return !slices.Contains(results.Aspects, a) }),
	}
}

// maxNotes bounds the notes of a pod.
const maxNotes = 16

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
			target, address, id := made(&s.Target), m.labels[0], m.labels[1]
			if ids := target.AnsweredBy[address]; slices.Contains(ids, id) || len(ids) == maxMembers {
				return fmt.Errorf("wanted at most %d different members at each address, found more at %.64q, or one twice", maxMembers, address)
			}
			put(&target.AnsweredBy, address, append(target.AnsweredBy[address], id))
			return nil
		},
	}
}
