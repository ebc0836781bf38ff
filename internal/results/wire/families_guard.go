package wire

import (
	"fmt"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var guardRules = spec.GuardRules()

// guardFamilies hold the pod's observations of the target during the load.
func guardFamilies() []family {
	return []family{
		scalar("etcdbench_clock_timestamp_seconds", "Wall clock of the client pod.",
			timestamps, func(s *results.Snapshot) *time.Time { return &s.Clock }),
		firedFamily(),
		firedNumberFamily("etcdbench_guard_fired_value", "Value that broke the rule of the guard.", func(f *results.Fired) *float64 { return &f.Got }),
		firedNumberFamily("etcdbench_guard_fired_limit", "Limit of the rule of the guard that fired.", func(f *results.Fired) *float64 { return &f.Limit }),
		unwatchedFamily(),
		changeFamily(),
	}
}

func firedFamily() family {
	return family{
		name: "etcdbench_guard_fired_timestamp_seconds", help: "When a rule of the guard ended the load.",
		kind: dto.MetricType_GAUGE, labels: []string{"rule", "subject", "detail"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if f := s.Fired; f != nil {
				value, _ := timestamps.encode(f.At)
				emit(metric{labels: []string{string(f.Rule), f.Subject, f.Detail}, value: value})
			}
		},
		read: func(s *results.Snapshot, m metric) (err error) {
			f := firedOf(s)
			if f.Rule != "" || !knownRule(spec.GuardRule(m.labels[0])) {
				return fmt.Errorf("wanted one of the rules %v, found %.64q", guardRules, m.labels[0])
			}
			f.Rule, f.Subject, f.Detail = spec.GuardRule(m.labels[0]), m.labels[1], m.labels[2]
			f.At, err = timestamps.decode(m.value)
			return err
		},
	}
}

// firedOf returns the rule that is being decoded.
func firedOf(s *results.Snapshot) *results.Fired {
	if s.Fired == nil {
		s.Fired = &results.Fired{}
	}
	return s.Fired
}

func firedNumberFamily(name, help string, field func(*results.Fired) *float64) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE,
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Fired != nil && *field(s.Fired) > 0 {
				emit(metric{value: *field(s.Fired)})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			*field(firedOf(s)) = m.value
			return nil
		},
	}
}

func unwatchedFamily() family {
	return family{
		name: "etcdbench_guard_unwatched_info", help: "Why a rule of the guard could not be checked all the time.",
		kind: dto.MetricType_GAUGE, labels: []string{"rule", "reason"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, rule := range sortedKeys(s.Unwatched) {
				emit(metric{labels: []string{string(rule), s.Unwatched[rule]}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			rule := spec.GuardRule(m.labels[0])
			if _, twice := s.Unwatched[rule]; twice || !knownRule(rule) {
				return fmt.Errorf("wanted each of the rules %v at most once, found %.64q", guardRules, rule)
			}
			if s.Unwatched == nil {
				s.Unwatched = map[spec.GuardRule]string{}
			}
			s.Unwatched[rule] = m.labels[1]
			return nil
		},
	}
}

func changeFamily() family {
	return family{
		name: "etcdbench_target_change_timestamp_seconds", help: "When a change of the target was observed.",
		kind: dto.MetricType_GAUGE, labels: []string{"aspect", "detail"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, c := range changesOf(s) {
				value, _ := timestamps.encode(c.At)
				emit(metric{labels: []string{string(c.Aspect), c.Detail}, value: value})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			c := results.Change{Aspect: results.Aspect(m.labels[0]), Detail: m.labels[1]}
			if !slices.Contains(results.Aspects, c.Aspect) || len(changesOf(s)) == results.MaxChanges {
				return fmt.Errorf("wanted at most %d changes of %v, found one more of %.64q", results.MaxChanges, results.Aspects, c.Aspect)
			}
			at, err := timestamps.decode(m.value)
			c.At = at
			targetOf(s).Changes = append(targetOf(s).Changes, c)
			return err
		},
	}
}

func changesOf(s *results.Snapshot) []results.Change {
	if s.Target == nil {
		return nil
	}
	return s.Target.Changes
}

func knownRule(r spec.GuardRule) bool { return slices.Contains(guardRules, r) }
