package results

import (
	"errors"
	"fmt"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// guardFamilies are what the pod saw of the target while it loaded it.
func guardFamilies() []family {
	return []family{
		scalar("etcdbench_clock_timestamp_seconds", "What the wall clock of the client pod shows.",
			timestamps, func(s *Snapshot) *time.Time { return &s.Clock }),
		firedFamily(),
		firedNumberFamily("etcdbench_guard_fired_value", "What broke the rule of the guard.", func(f *Fired) *float64 { return &f.Got }),
		firedNumberFamily("etcdbench_guard_fired_limit", "Limit of the rule of the guard that fired.", func(f *Fired) *float64 { return &f.Limit }),
		unwatchedFamily(),
		changeFamily(),
	}
}

func firedFamily() family {
	return family{
		name: "etcdbench_guard_fired_timestamp_seconds", help: "When a rule of the guard ended the load.",
		kind: dto.MetricType_GAUGE, labels: []string{"rule", "subject", "detail"},
		write: func(s *Snapshot, emit func(metric)) {
			if f := s.Fired; f != nil {
				value, _ := timestamps.encode(f.At)
				emit(metric{labels: []string{string(f.Rule), f.Subject, f.Detail}, value: value})
			}
		},
		read: func(s *Snapshot, m metric) (err error) {
			f := s.fired()
			if f.Rule != "" || !knownRule(GuardRule(m.labels[0])) {
				return fmt.Errorf("wanted one of the rules %v, found %.64q", guardRules, m.labels[0])
			}
			f.Rule, f.Subject, f.Detail = GuardRule(m.labels[0]), m.labels[1], m.labels[2]
			f.At, err = timestamps.decode(m.value)
			return err
		},
	}
}

// fired returns the rule that is being read.
func (s *Snapshot) fired() *Fired {
	if s.Fired == nil {
		s.Fired = &Fired{}
	}
	return s.Fired
}

func firedNumberFamily(name, help string, field func(*Fired) *float64) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE,
		write: func(s *Snapshot, emit func(metric)) {
			if s.Fired != nil && *field(s.Fired) > 0 {
				emit(metric{value: *field(s.Fired)})
			}
		},
		read: func(s *Snapshot, m metric) error {
			*field(s.fired()) = m.value
			return nil
		},
	}
}

func unwatchedFamily() family {
	return family{
		name: "etcdbench_guard_unwatched_info", help: "Why a rule of the guard could not be watched all the time.",
		kind: dto.MetricType_GAUGE, labels: []string{"rule", "reason"},
		write: func(s *Snapshot, emit func(metric)) {
			for _, rule := range sortedKeys(s.Unwatched) {
				emit(metric{labels: []string{string(rule), s.Unwatched[rule]}, value: 1})
			}
		},
		read: func(s *Snapshot, m metric) error {
			rule := GuardRule(m.labels[0])
			if _, twice := s.Unwatched[rule]; twice || !knownRule(rule) {
				return fmt.Errorf("wanted each of the rules %v at most once, found %.64q", guardRules, rule)
			}
			s.Unwatched = mergeUnwatched(s.Unwatched, map[GuardRule]string{rule: m.labels[1]})
			return nil
		},
	}
}

func changeFamily() family {
	return family{
		name: "etcdbench_target_change_timestamp_seconds", help: "When the target was no longer what it had been.",
		kind: dto.MetricType_GAUGE, labels: []string{"aspect", "detail"},
		write: func(s *Snapshot, emit func(metric)) {
			for _, c := range s.changes() {
				value, _ := timestamps.encode(c.At)
				emit(metric{labels: []string{string(c.Aspect), c.Detail}, value: value})
			}
		},
		read: func(s *Snapshot, m metric) error {
			c := Change{Aspect: Aspect(m.labels[0]), Detail: m.labels[1]}
			if !slices.Contains(aspects, c.Aspect) || len(s.changes()) == MaxChanges {
				return fmt.Errorf("wanted at most %d changes of %v, found one more of %.64q", MaxChanges, aspects, c.Aspect)
			}
			at, err := timestamps.decode(m.value)
			c.At = at
			s.target().Changes = append(s.target().Changes, c)
			return err
		},
	}
}

func (s *Snapshot) changes() []Change {
	if s.Target == nil {
		return nil
	}
	return s.Target.Changes
}

// checkFired: a limit alone says nothing of what fired.
func (s *Snapshot) checkFired() error {
	if s.Fired != nil && s.Fired.Rule == "" {
		return errors.New("wanted the rule of the guard that fired, found its numbers alone")
	}
	return nil
}
