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
		gauge(members, "etcdbench_target_member_leader", "1 if the member led when the run started.",
			flags, func(m *results.Member) *bool { return &m.Leader }),
		gauge(members, "etcdbench_target_member_database_bytes", "Size of the member's database before the load.",
			sizes, func(m *results.Member) *int64 { return &m.DatabaseBytes }),
		gauge(members, "etcdbench_target_member_quota_bytes", "Maximum size of the member's database, if the member reported it.",
			sizes, func(m *results.Member) *int64 { return &m.QuotaBytes }),
		diskInfoFamily(),
		gauge(target, "etcdbench_target_write_estimate_bytes", "Estimated growth of the database by the run, if there is an estimate.",
			sizes, func(t *results.Target) *int64 { return &t.WriteEstimateBytes }),
		gauge(members, "etcdbench_target_member_resident_memory_bytes",
			"Mean resident memory of the member over the samples of the measured window.",
			sizes, func(m *results.Member) *int64 { return &m.ResidentMemoryBytes }),
	}
}

var target = once(func(s *results.Snapshot) **results.Target { return &s.Target })

// members are in the same order for both forms.
var members = place[results.Member]{
	labels: []string{"member_id"},
	each: func(s *results.Snapshot, do func(*results.Member, ...string)) {
		if s.Target == nil {
			return
		}
		for _, m := range slices.SortedFunc(slices.Values(s.Target.Members), compareMembers) {
			do(&m, m.ID)
		}
	},
	find: func(s *results.Snapshot, id []string) (*results.Member, error) {
		t := made(&s.Target)
		at := slices.IndexFunc(t.Members, func(m results.Member) bool { return m.ID == id[0] })
		if at >= 0 {
			return &t.Members[at], nil
		}
		if len(t.Members) == maxMembers {
			return nil, fmt.Errorf("wanted at most %d members, found more", maxMembers)
		}
		t.Members = append(t.Members, results.Member{ID: id[0]})
		return &t.Members[len(t.Members)-1], nil
	},
}

func compareMembers(a, b results.Member) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
}

func targetInfoFamily() family {
	return target.family("etcdbench_target_info", "The etcd cluster under load.", dto.MetricType_GAUGE,
		func(t *results.Target) (metric, bool) { return metric{labels: []string{t.ClusterID}, value: 1}, true },
		func(t *results.Target, m metric) error {
			if t.ClusterID != "" {
				return errors.New("wanted one cluster, found two")
			}
			t.ClusterID = m.labels[0]
			return nil
		}, "cluster_id")
}

func memberInfoFamily() family {
	return members.family("etcdbench_target_member_info", "A member of the etcd cluster under load.", dto.MetricType_GAUGE,
		func(m *results.Member) (metric, bool) {
			return metric{labels: []string{m.Name, m.Endpoint, m.Version}, value: 1}, true
		},
		func(member *results.Member, m metric) error {
			member.Name, member.Endpoint, member.Version = m.labels[0], m.labels[1], m.labels[2]
			return nil
		}, "name", "endpoint", "version")
}

var disk = place[results.Disk]{
	each: func(s *results.Snapshot, do func(*results.Disk, ...string)) {
		if s.Target != nil && s.Target.Disk != nil {
			do(s.Target.Disk)
		}
	},
	find: func(s *results.Snapshot, _ []string) (*results.Disk, error) {
		return made(&made(&s.Target).Disk), nil
	},
}

func diskInfoFamily() family {
	return disk.family("etcdbench_target_disk_info", "What the folder of the client pod lies on.", dto.MetricType_GAUGE,
		func(d *results.Disk) (metric, bool) {
			return metric{labels: []string{d.Device, d.FileSystem, d.Options}, value: 1}, true
		},
		func(d *results.Disk, m metric) error {
			d.Device, d.FileSystem, d.Options = m.labels[0], m.labels[1], m.labels[2]
			return nil
		}, "device", "file_system", "options")
}
