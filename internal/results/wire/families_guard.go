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
		gauge(pod, "etcdbench_clock_timestamp_seconds", "Wall clock of the client pod.",
			timestamps, func(s *results.Snapshot) *time.Time { return &s.Clock }),
		firedFamily(),
		gauge(fired, "etcdbench_guard_fired_value", "Value that broke the rule of the guard.", positive, func(f *results.Fired) *float64 { return &f.Got }),
		gauge(fired, "etcdbench_guard_fired_limit", "Limit of the rule of the guard that fired.", positive, func(f *results.Fired) *float64 { return &f.Limit }),
		reasons(pod, "etcdbench_guard_unwatched_info", "Why a rule of the guard could not be checked all the time.", "rule",
			func(s *results.Snapshot) *map[spec.GuardRule]string { return &s.Unwatched }, func(r spec.GuardRule, _ string) bool { return !knownRule(r) }),
		changeFamily(),
	}
}

var fired = once(func(s *results.Snapshot) **results.Fired { return &s.Fired })

// positive are numbers of which 0 is none.
var positive = codec[float64]{
	encode: func(v float64) (float64, bool) { return v, v > 0 },
	decode: func(v float64) (float64, error) { return v, nil },
}

func firedFamily() family {
	return fired.family("etcdbench_guard_fired_timestamp_seconds", "When a rule of the guard ended the load.", dto.MetricType_GAUGE,
		func(f *results.Fired) (metric, bool) {
			value, _ := timestamps.encode(f.At)
			return metric{labels: []string{string(f.Rule), f.Subject, f.Detail}, value: value}, true
		},
		func(f *results.Fired, m metric) (err error) {
			if f.Rule != "" || !knownRule(spec.GuardRule(m.labels[0])) {
				return fmt.Errorf("wanted one of the rules %v, found %.64q", guardRules, m.labels[0])
			}
			f.Rule, f.Subject, f.Detail = spec.GuardRule(m.labels[0]), m.labels[1], m.labels[2]
			f.At, err = timestamps.decode(m.value)
			return err
		}, "rule", "subject", "detail")
}

func changeFamily() family {
	return family{
		name: "etcdbench_target_change_timestamp_seconds", help: "When a change of the target was observed.",
		kind: dto.MetricType_GAUGE, labels: []string{"aspect", "detail"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Target == nil {
				return
			}
			for _, c := range s.Target.Changes {
				value, _ := timestamps.encode(c.At)
				emit(metric{labels: []string{string(c.Aspect), c.Detail}, value: value})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			t, c := made(&s.Target), results.Change{Aspect: results.Aspect(m.labels[0]), Detail: m.labels[1]}
			if !slices.Contains(results.Aspects, c.Aspect) || len(t.Changes) == results.MaxChanges {
				return fmt.Errorf("wanted at most %d changes of %v, found one more of %.64q", results.MaxChanges, results.Aspects, c.Aspect)
			}
			at, err := timestamps.decode(m.value)
			c.At = at
			t.Changes = append(t.Changes, c)
			return err
		},
	}
}

func knownRule(r spec.GuardRule) bool { return slices.Contains(guardRules, r) }
