package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxFailed is how many of 1,000 requests may fail. With more, the other requests no longer describe a run.
const maxFailed = 1

// WhyInvalid is why a run's numbers cannot be compared; empty if they can.
func WhyInvalid(run *v1alpha1.EtcdBenchmark) string {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	s := run.Status.Summary
	switch {
	case finished == nil || finished.Status != metav1.ConditionTrue:
		return "it has not finished"
	case finished.Reason != v1alpha1.ReasonCompleted:
		return strings.TrimSuffix(fmt.Sprintf("it ended as %s: %s", finished.Reason, finished.Message), ": ")
	case s == nil:
		return "it has no result"
	case s.Partial:
		return "the result of a client pod is missing or incomplete"
	case len(s.Concerns) > 0:
		return "its numbers may not describe the requested load: " + s.Concerns[0]
	case skipsMembers(run):
		return "addresses of its target did not answer and got no load (spec.target.unreachableMembers: Skip)"
	case whyClientBound(s.Validity) != "":
		return whyClientBound(s.Validity)
	case results.IsMore(uint64(s.FailedRequests), uint64(s.MeasuredRequests), maxFailed, 1000):
		return fmt.Sprintf("%s of its %s failed", text.Grouped(s.FailedRequests), text.Plural(s.MeasuredRequests, "request"))
	}
	return ""
}

// skipsMembers reports whether a run has left out members that it should have loaded.
func skipsMembers(run *v1alpha1.EtcdBenchmark) bool {
	t := run.Status.Target
	if t == nil || run.Spec.Target.UnreachableMembers != spec.UnreachableSkip {
		return false
	}
	loaded := slices.DeleteFunc(slices.Clone(t.Members), func(m v1alpha1.MemberStatus) bool { return m.Endpoint == "" })
	return t.NotReady > 0 || len(loaded) < max(len(t.Members), len(t.Endpoints))
}

// Value is one number of a run: requests per second, or microseconds.
type Value struct {
	Number float64
	// AtLeast: requests that were unanswered at the end could have made it greater.
	AtLeast bool
	// Error is the greatest relative error of Number, because of buckets and of rounding.
	Error float64
	// Reason is why there is no number that can be compared; empty if there is one.
	Reason v1alpha1.ComparisonReason
}

// ValueOf returns the number of a metric in a run that has a summary.
func ValueOf(run *v1alpha1.EtcdBenchmark, m v1alpha1.Metric) Value {
	s := run.Status.Summary
	if m.Type == v1alpha1.MetricThroughput {
		v := Value{Number: s.ThroughputPerSecond.Float64()}
		switch {
		case !isNumber(v.Number):
			v.Reason = v1alpha1.ReasonNotMeasured
		case run.Resolved().Load.Rate != nil && s.Saturated == nil && EnvironmentOf(run).ClientBound && !reachedRate(s):
			v.Reason = v1alpha1.ReasonComparedClientBound
		case run.Resolved().Load.Rate != nil && s.Saturated == nil:
			v.Reason = v1alpha1.ReasonNotInformative
		}
		return v
	}
	i := slices.IndexFunc(s.Operations, func(o v1alpha1.OperationSummary) bool { return o.Operation == m.Operation })
	if i < 0 || s.Operations[i].Latency == nil {
		return Value{Reason: v1alpha1.ReasonNotMeasured}
	}
	o, latency := s.Operations[i], s.Operations[i].Latency
	v := Value{
		Number:  float64(latency.Micros(m.Statistic)),
		AtLeast: slices.Contains(latency.AtLeast, m.Statistic) || FailuresMatter(o.Failed, o.Succeeded+o.Failed+o.Censored, m.Statistic),
	}
	v.Error = halfMicrosecond / v.Number
	if isPercentile(m.Statistic) {
		v.Error += float64(latency.ErrorBoundPerMillion) / 1e6
	}
	switch {
	case !isNumber(v.Number):
		v.Reason = v1alpha1.ReasonNotMeasured
	case slices.Contains(latency.Thin, m.Statistic):
		v.Reason = v1alpha1.ReasonComparedTailTooThin
	}
	return v
}

// reachedRate reports whether nearly all requests that were due in the window succeeded within it.
func reachedRate(s *v1alpha1.Summary) bool {
	const most = 0.995
	return s.ThroughputPerSecond.Float64()*float64(s.DurationMicroseconds)/1e6 >= most*float64(s.MeasuredRequests)
}

// halfMicrosecond is the greatest rounding error of a latency.
const halfMicrosecond = 0.5

// isNumber is false for what a file can have and a run cannot.
func isNumber(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

func isPercentile(s spec.Statistic) bool { return slices.Contains(results.Percentiles, s) }

// FailuresMatter reports whether so many of all requests of an operation failed that its statistic would be higher if they
// counted as slower than all others: any for a mean or a maximum, and for a percentile a tenth of those above it.
func FailuresMatter(failed, all int64, s spec.Statistic) bool {
	if !isPercentile(s) {
		return failed > 0
	}
	return 10*uint64(failed) > results.Beyond(s, uint64(all))
}

// UsualMetrics are what a comparison of these runs judges unless the user names something else: the throughput of a
// closed loop, and of each operation the first of the usual statistics that every valid run has, or the last of them.
func UsualMetrics(runs []*v1alpha1.EtcdBenchmark) (out []v1alpha1.Metric) {
	var valid []*v1alpha1.EtcdBenchmark
	var in []v1alpha1.Environment
	for _, run := range runs {
		if WhyInvalid(run) == "" {
			valid, in = append(valid, run), append(in, EnvironmentOf(run))
		}
	}
	if len(valid) == 0 {
		return []v1alpha1.Metric{{Type: v1alpha1.MetricThroughput}}
	}
	if valid[0].Resolved().Load.Rate == nil {
		out = append(out, v1alpha1.Metric{Type: v1alpha1.MetricThroughput})
	}
	for _, o := range valid[0].Status.Summary.Operations {
		m := v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: o.Operation}
		for _, m.Statistic = range UsualStatistics(in) {
			if !slices.ContainsFunc(valid, func(run *v1alpha1.EtcdBenchmark) bool { return ValueOf(run, m).Reason != "" }) {
				break
			}
		}
		out = append(out, m)
	}
	return out
}
