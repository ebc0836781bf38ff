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
	all := []family{unknownFiguresFamily()}
	for _, f := range results.AllFigures() {
		all = append(all, figureFamily(f))
	}
	return all
}

func figureFamily(f results.Figure) family {
	return family{
		name: "etcdbench_member_" + string(f),
		help: fmt.Sprintf("%s of the member over the measured window, from the member's own metrics.", strings.ReplaceAll(string(f), "_", " ")),
		kind: dto.MetricType_GAUGE, labels: []string{"member_id"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, m := range sortedMembers(s) {
				if v, ok := m.Window.Value(f); ok {
					emit(metric{labels: []string{m.ID}, value: v})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			w, err := memberWindow(s, m.labels[0])
			if err != nil {
				return err
			}
			if w.Figures == nil {
				w.Figures = map[results.Figure]float64{}
			}
			w.Figures[f] = m.value
			return nil
		},
	}
}

func unknownFiguresFamily() family {
	return family{
		name: "etcdbench_member_unknown_info", help: "Why the member has no figures for the measured window.",
		kind: dto.MetricType_GAUGE, labels: []string{"member_id", "reason"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, m := range sortedMembers(s) {
				if m.Window != nil && m.Window.Unknown != "" {
					emit(metric{labels: []string{m.ID, m.Window.Unknown}, value: 1})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			w, err := memberWindow(s, m.labels[0])
			if err != nil {
				return err
			}
			w.Unknown = m.labels[1]
			return wantReason(w.Unknown)
		},
	}
}

// memberWindow returns the window of the member that is being decoded.
func memberWindow(s *results.Snapshot, id string) (*results.MemberWindow, error) {
	member, err := memberOf(s, id)
	if err != nil {
		return nil, err
	}
	if member.Window == nil {
		member.Window = &results.MemberWindow{}
	}
	return member.Window, nil
}
