package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Remaining is a sentence about the time that all runs will take, with a space before it. It is empty if the time is over.
// atMost: the time is an upper bound.
func Remaining(left time.Duration, atMost bool) string {
	if left = left.Round(time.Second); left <= 0 {
		return ""
	}
	if atMost {
		return fmt.Sprintf(" All probes end within about %s.", left)
	}
	return fmt.Sprintf(" All runs end in about %s.", left)
}

// Ended says how a run of a suite ended. i is the place of its result.
func Ended(s *v1alpha1.EtcdBenchmarkSuite, i int) string {
	r := s.Status.Results[i]
	repeats := slices.ContainsFunc(s.Status.Results[:i], func(o v1alpha1.SuiteResult) bool { return o.Cell == r.Cell && o.Round == r.Round })
	which := place(r)
	if repeats {
		which += ", repeated"
	}
	parts := append([]string{r.Reason}, resultFigures(r)...)
	parts = append(parts, judged(r))
	if r.Invalid != "" {
		parts = append(parts, "invalid: "+r.Invalid)
	}
	return which + ": " + joined(parts...)
}

func place(r v1alpha1.SuiteResult) string {
	switch p := r.Probe; {
	case p == nil:
		return fmt.Sprintf("%s, round %d", r.Cell, r.Round)
	case p.AskedPerSecond == 0:
		return fmt.Sprintf("%s, probe %d (%s)", r.Cell, r.Round, strings.ToLower(string(p.Role)))
	default:
		return fmt.Sprintf("%s, probe %d (%s, %s)", r.Cell, r.Round, strings.ToLower(string(p.Role)), text.PerSecond(p.AskedPerSecond))
	}
}

// resultFigures are the numbers of a run: the throughput of its requests, and the latency of the slowest kind of them.
func resultFigures(r v1alpha1.SuiteResult) (parts []string) {
	rate, failed := int64(0), int64(0)
	var slowest v1alpha1.SuiteOperation
	for _, o := range r.Operations {
		if o.Operation.IsEvent() {
			continue
		}
		failed += o.Failed
		if !o.Operation.IsPart() {
			rate += o.ThroughputMilliPerSecond
		}
		if o.P99Microseconds > slowest.P99Microseconds {
			slowest = o
		}
	}
	if rate > 0 {
		parts = append(parts, text.RateOf(float64(rate)/1000).String())
	}
	if slowest.P99Microseconds > 0 {
		p99 := text.Micros(slowest.P99Microseconds)
		if slowest.AtLeast {
			p99 = "≥" + p99
		}
		parts = append(parts, p99Of(slowest.Operation, p99))
	}
	if failed > 0 {
		parts = append(parts, text.Grouped(failed)+" failed")
	}
	return parts
}

// judged says whether a run met its objectives; empty if it has none.
func judged(r v1alpha1.SuiteResult) string {
	switch r.Passed {
	case metav1.ConditionTrue:
		return "passed"
	case metav1.ConditionFalse:
		return "missed: " + cmp.Or(r.Missed, "an objective")
	case metav1.ConditionUnknown:
		return "not judged"
	}
	return ""
}

func suiteState(s *v1alpha1.EtcdBenchmarkSuite) *state {
	out := &state{name: s.Name, text: suiteLine(s), atMost: s.Spec.Search != nil}
	if end := s.Status.EstimatedEnd; end != nil && s.Status.Current != "" && !s.Spec.Stop {
		out.end = end.Time
	}
	return out
}

// suiteLine is the state of a suite in one line, without its name and without times.
func suiteLine(s *v1alpha1.EtcdBenchmarkSuite) string {
	stage, message := v1alpha1.StagePending, ""
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished); c != nil {
		if stage, message = c.Reason, c.Message; c.Status == metav1.ConditionTrue {
			// The result has the message.
			return stage
		}
	}
	switch {
	case s.Status.Current == "" && stage == v1alpha1.StageRunning:
		// Between two runs. The message is about the runs.
		return message
	case s.Status.Current == "":
		return joined(stage, message)
	case s.Spec.Stop:
		return "Stopping. " + current(s)
	}
	return current(s)
}

// current describes the run that status.current names.
func current(s *v1alpha1.EtcdBenchmarkSuite) string {
	name := s.Status.Current
	if p, more := suite.Next(s); more && p.Name == name {
		return suite.Describe(s, p)
	}
	for _, r := range s.Status.Results {
		if r.Name == name {
			return fmt.Sprintf("The operator waits until the keys of %s are deleted.", place(r))
		}
	}
	return "The run " + name + " is in progress."
}
