package wire

import (
	"fmt"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// figureFamilies hold the members' own metrics over the window: one family per figure, with one metric per member that
// has it.
func figureFamilies() []family {
	all := []family{textOf(memberWindows, "etcdbench_member_unknown_info", "Why the member has no figures for the measured window.", "reason",
		func(w *results.MemberWindow) *string { return &w.Unknown })}
	for _, f := range results.AllFigures() {
		all = append(all, figureFamily(f))
	}
	return all
}

// memberWindows are the members' figures over the window.
var memberWindows = place[results.MemberWindow]{
	labels: members.labels,
	each: func(s *results.Snapshot, do func(*results.MemberWindow, ...string)) {
		members.each(s, func(m *results.Member, id ...string) {
			if m.Window != nil {
				do(m.Window, id...)
			}
		})
	},
	find: func(s *results.Snapshot, id []string) (*results.MemberWindow, error) {
		member, err := members.find(s, id)
		if err != nil {
			return nil, err
		}
		return made(&member.Window), nil
	},
}

func figureFamily(f results.Figure) family {
	return memberWindows.family("etcdbench_member_"+string(f),
		fmt.Sprintf("%s of the member over the measured window, from the member's own metrics.", strings.ReplaceAll(string(f), "_", " ")), dto.MetricType_GAUGE,
		func(w *results.MemberWindow) (metric, bool) {
			value, ok := w.Value(f)
			return metric{value: value}, ok
		},
		func(w *results.MemberWindow, m metric) error {
			put(&w.Figures, f, m.value)
			return nil
		})
}
