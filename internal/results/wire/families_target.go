package wire

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// maxMembers bounds the members of a target.
const maxMembers = 64

// targetFamilies hold pod 0's view of the target.
func targetFamilies() []family {
	return []family{
		targetInfoFamily(),
		memberInfoFamily(),
		memberFamily("etcdbench_target_member_leader", "1 if the member led when the run started.",
			flags, func(m *results.Member) *bool { return &m.Leader }),
		memberFamily("etcdbench_target_member_database_bytes", "Size of the member's database before the load.",
			sizes, func(m *results.Member) *int64 { return &m.DatabaseBytes }),
		memberFamily("etcdbench_target_member_quota_bytes", "Maximum size of the member's database, if the member reported it.",
			sizes, func(m *results.Member) *int64 { return &m.QuotaBytes }),
		writeEstimateFamily(),
		memberFamily("etcdbench_target_member_resident_memory_bytes",
			"Mean resident memory of the member over the samples of the measured window.",
			sizes, func(m *results.Member) *int64 { return &m.ResidentMemoryBytes }),
	}
}

func targetInfoFamily() family {
	return family{
		name: "etcdbench_target_info", help: "The etcd cluster under load.",
		kind: dto.MetricType_GAUGE, labels: []string{"cluster_id"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target != nil {
				emit(metric{labels: []string{s.Target.ClusterID}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			target := targetOf(s)
			if target.ClusterID != "" {
				return errors.New("wanted one cluster, found two")
			}
			target.ClusterID = m.labels[0]
			return nil
		},
	}
}

func writeEstimateFamily() family {
	return family{
		name: "etcdbench_target_write_estimate_bytes", help: "Estimated growth of the database by the run, if there is an estimate.",
		kind: dto.MetricType_GAUGE,
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target == nil {
				return
			}
			if value, ok := sizes.encode(s.Target.WriteEstimateBytes); ok {
				emit(metric{value: value})
			}
		},
		read: func(s *results.Snapshot, m metric) (err error) {
			targetOf(s).WriteEstimateBytes, err = sizes.decode(m.value)
			return err
		},
	}
}

func memberInfoFamily() family {
	return family{
		name: "etcdbench_target_member_info", help: "A member of the etcd cluster under load.",
		kind: dto.MetricType_GAUGE, labels: []string{"member_id", "name", "endpoint", "version"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, m := range sortedMembers(s) {
				emit(metric{labels: []string{m.ID, m.Name, m.Endpoint, m.Version}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			member, err := memberOf(s, m.labels[0])
			if err != nil {
				return err
			}
			member.Name, member.Endpoint, member.Version = m.labels[1], m.labels[2], m.labels[3]
			return nil
		},
	}
}

// memberFamily has one metric per member that has the field.
func memberFamily[T any](name, help string, c codec[T], field func(*results.Member) *T) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE, labels: []string{"member_id"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, m := range sortedMembers(s) {
				if value, ok := c.encode(*field(&m)); ok {
					emit(metric{labels: []string{m.ID}, value: value})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			member, err := memberOf(s, m.labels[0])
			if err != nil {
				return err
			}
			*field(member), err = c.decode(m.value)
			return err
		},
	}
}

// sortedMembers sorts by name and ID, the same for both forms.
func sortedMembers(s *results.Snapshot) []results.Member {
	if s.Target == nil {
		return nil
	}
	return slices.SortedFunc(slices.Values(s.Target.Members), compareMembers)
}

func compareMembers(a, b results.Member) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
}

// targetOf returns the target that is being decoded.
func targetOf(s *results.Snapshot) *results.Target {
	if s.Target == nil {
		s.Target = &results.Target{}
	}
	return s.Target
}

// memberOf returns the member that is being decoded. The pointer is valid until the next call.
func memberOf(s *results.Snapshot, id string) (*results.Member, error) {
	target := targetOf(s)
	at := slices.IndexFunc(target.Members, func(m results.Member) bool { return m.ID == id })
	if at >= 0 {
		return &target.Members[at], nil
	}
	if len(target.Members) == maxMembers {
		return nil, fmt.Errorf("wanted at most %d members, found more", maxMembers)
	}
	target.Members = append(target.Members, results.Member{ID: id})
	return &target.Members[len(target.Members)-1], nil
}
