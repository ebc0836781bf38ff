package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// maxFindings bounds each list of a diagnosis.
const maxFindings = 1_000

// diagnosisFamilies say what is wrong with the target.
func diagnosisFamilies() []family {
	return []family{
		listed("etcdbench_target_looked_info", "What was looked for at the target.", []string{"kind"},
			func(d *results.Diagnosis) *[]string { return &d.Looked }, oneLabel, onlyLabel),
		listed("etcdbench_target_unseen_info", "A member of the target that was not looked at.", []string{"member"},
			func(d *results.Diagnosis) *[]string { return &d.Unseen }, oneLabel, onlyLabel),
		listed("etcdbench_target_finding_info", "What is wrong with the target, the most important first.", []string{"kind", "members", "message", "limit", "source", "do"},
			func(d *results.Diagnosis) *[]results.Finding { return &d.Findings },
			func(f results.Finding) []string {
				return []string{f.Kind, strings.Join(f.Members, ","), f.Message, f.Limit, f.Source, f.Do}
			},
			func(l []string) results.Finding {
				f := results.Finding{Kind: l[0], Message: l[2], Limit: l[3], Source: l[4], Do: l[5]}
				if l[1] != "" {
					f.Members = strings.Split(l[1], ",")
				}
				return f
			}),
		listed("etcdbench_target_undecided_info", "What could not be decided about the target.", []string{"kind", "member", "why", "needs"},
			func(d *results.Diagnosis) *[]results.Undecided { return &d.Undecided },
			func(u results.Undecided) []string { return []string{u.Kind, u.Member, u.Why, u.Needs} },
			func(l []string) results.Undecided {
				return results.Undecided{Kind: l[0], Member: l[1], Why: l[2], Needs: l[3]}
			}),
	}
}

func oneLabel(text string) []string { return []string{text} }

func onlyLabel(labels []string) string { return labels[0] }

// listed is a family for the entries of a list of the diagnosis. The value of each is its place, from 1.
func listed[T any](name, help string, labels []string, field func(*results.Diagnosis) *[]T, write func(T) []string, read func([]string) T) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE, labels: labels,
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target == nil || s.Target.Diagnosis == nil {
				return
			}
			all := *field(s.Target.Diagnosis)
			for i, entry := range all[:min(len(all), maxFindings)] {
				emit(metric{labels: write(entry), value: float64(i + 1)})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			all := field(made(&made(&s.Target).Diagnosis))
			if len(*all) == maxFindings {
				return fmt.Errorf("wanted at most %d entries, found another one", maxFindings)
			}
			if !slices.ContainsFunc(m.labels, func(text string) bool { return text != "" }) {
				return errors.New("wanted a text, found none")
			}
			*all = append(*all, read(m.labels))
			return nil
		},
	}
}
