package benchmark

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// Summary returns the merged result of a run for its status, in whole numbers.
func Summary(b *v1alpha1.EtcdBenchmark, s results.Summary) *v1alpha1.Summary {
	clients := verdict.Clients(b, s)
	return &v1alpha1.Summary{
		Transport:                 b.Resolved().Load.Transport,
		Partial:                   s.Partial,
		MeasuredRequests:          int64(s.Succeeded + s.Failed + s.Censored),
		StartedRequests:           int64(s.Started),
		LateRequests:              ifKnown(s.Late),
		FailedRequests:            int64(s.Failed),
		CensoredRequests:          int64(s.Censored),
		ThroughputPerSecond:       text.RateOf(s.Throughput).Decimal(),
		SteadyThroughputPerSecond: steady(s.SteadyThroughput),
		TailMicroseconds:          toMicros(s.Tail),
		WindowStart:               microTime(s.WindowStart),
		WindowEnd:                 microTime(s.WindowEnd),
		DurationMicroseconds:      toMicros(s.Length),
		StartSkewMicroseconds:     toMicros(s.StartSkew),
		Disturbances:              disturbanceSummaries(b, s.Disturbances),
		RequestCounts:             RequestCounts(s.Requests),
		RequestBytes:              int64(s.Merged.Bodies.Sent),
		ResponseBytes:             int64(s.Merged.Bodies.Received),
		KeyBytesOnWire:            int32(s.KeyBytes),
		Concerns:                  verdict.Concerns(b, s),
		Warnings:                  verdict.Warnings(b, s),
		Members:                   memberSummaries(s.Target),
		Evidence:                  verdict.Evidence(b, s, clients),
		Watch:                     watchSummary(s.Watch),
		Burst:                     burstSummary(b, s),
		Validity:                  clients,
		Saturated:                 verdict.Saturation(b, s, clients),
		ClientPauses:              int64(s.Pauses.Count),
		ClientPausesMicroseconds:  toMicros(s.Pauses.Total),
		Fingerprint:               fingerprint(b, s),
		Operations:                operationSummaries(s.Operations),
	}
}

// steady is empty without a steady throughput.
func steady(perSecond float64) spec.Decimal {
	if perSecond == 0 {
		return ""
	}
	return text.RateOf(perSecond).Decimal()
}

func operationSummaries(operations []results.OperationSummary) (out []v1alpha1.OperationSummary) {
	for _, op := range operations[:min(len(operations), v1alpha1.MaxOperations)] {
		out = append(out, operationSummary(op))
	}
	return out
}

func operationSummary(op results.OperationSummary) v1alpha1.OperationSummary {
	out := v1alpha1.OperationSummary{
		Operation:           op.Operation,
		Succeeded:           int64(op.Succeeded),
		Failed:              int64(op.Failed),
		Censored:            int64(op.Censored),
		Late:                ifKnown(op.Late),
		Errors:              errorCounts(op.Errors, op.Examples),
		Lost:                int64(op.Lost),
		Attempts:            int64(op.Attempts),
		ThroughputPerSecond: text.RateOf(op.Throughput).Decimal(),
		Latency:             latencySummary(op.Latency),
		ServiceTime:         latencySummary(op.Service),
		Lateness:            latencySummary(op.Lateness),
	}
	if op.Backlog.Values[spec.StatisticMax].Duration > 0 {
		out.NetLatency, out.BacklogWait = latencySummary(op.Net), latencySummary(op.Backlog)
	}
	if op.Attempts > 0 {
		perCommit := float64(op.Attempts) / float64(max(op.Succeeded, 1))
		out.AttemptsPerCommit = spec.DecimalOf(math.Round(1000*perCommit) / 1000)
	}
	return out
}

// ifKnown is nil if the number is unknown.
func ifKnown(n *uint64) *int64 {
	if n == nil {
		return nil
	}
	return new(int64(*n))
}

// latencySummary returns nil if nothing was recorded: a zero would look like a very fast answer.
func latencySummary(d results.Distribution) *v1alpha1.LatencySummary {
	if d.Count == 0 {
		return nil
	}
	micros := func(s spec.Statistic) int64 { return toMicros(d.Values[s].Duration) }
	return &v1alpha1.LatencySummary{
		Count:                int64(d.Count),
		MeanMicroseconds:     micros(spec.StatisticMean),
		StddevMicroseconds:   toMicros(d.Stddev),
		MinMicroseconds:      toMicros(d.Min),
		P50Microseconds:      micros(spec.StatisticP50),
		P90Microseconds:      micros(spec.StatisticP90),
		P95Microseconds:      micros(spec.StatisticP95),
		P99Microseconds:      micros(spec.StatisticP99),
		P999Microseconds:     micros(spec.StatisticP999),
		MaxMicroseconds:      micros(spec.StatisticMax),
		AtLeast:              atLeast(d.Values),
		Thin:                 thin(d),
		ErrorBoundPerMillion: errorBound(d),
	}
}

// errorBound is 0 if the buckets, and with them the percentiles, did not reach the operator.
func errorBound(d results.Distribution) int32 {
	if _, known := d.Values[spec.StatisticP50]; !known {
		return 0
	}
	return int32(d.ErrorBoundPPM)
}

func atLeast(values map[spec.Statistic]results.Value) []spec.Statistic {
	var out []spec.Statistic
	for s, v := range values {
		if v.AtLeast {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

func thin(d results.Distribution) (out []spec.Statistic) {
	for s := range d.Values {
		if d.IsThin(s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

// errorCounts are sorted by count, so that the limit cuts off the rarest.
func errorCounts(errors map[string]uint64, examples map[string]string) []v1alpha1.ErrorCount {
	var out []v1alpha1.ErrorCount
	for code, n := range errors {
		out = append(out, v1alpha1.ErrorCount{Code: code, Count: int64(n), Example: examples[code]})
	}
	slices.SortFunc(out, func(a, b v1alpha1.ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Code, b.Code))
	})
	return out[:min(len(out), v1alpha1.MaxErrorCodes)]
}

// RequestCounts are all sent requests, sorted by RPC. A run without a summary has them, too.
func RequestCounts(requests map[spec.RPC]map[results.Phase]uint64) []v1alpha1.RequestCount {
	var out []v1alpha1.RequestCount
	for rpc, phases := range requests {
		out = append(out, v1alpha1.RequestCount{
			RPC:      string(rpc),
			Preload:  int64(phases[results.PhasePreload]),
			Warmup:   int64(phases[results.PhaseWarmup]),
			Measured: int64(phases[results.PhaseMeasured]),
			Control:  int64(phases[results.PhaseControl]),
		})
	}
	slices.SortFunc(out, func(a, b v1alpha1.RequestCount) int { return strings.Compare(a.RPC, b.RPC) })
	return out[:min(len(out), v1alpha1.MaxRequestCounts)]
}

func whole(v float64) int64 { return int64(math.Round(v)) }

func toMicros(d time.Duration) int64 { return d.Round(time.Microsecond).Microseconds() }

func microTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	out := metav1.NewMicroTime(t.UTC())
	return &out
}

// watchSummary returns nil for a run without watchers.
func watchSummary(w results.Watch) *v1alpha1.WatchSummary {
	if w == (results.Watch{}) {
		return nil
	}
	return &v1alpha1.WatchSummary{
		Watchers:          int64(w.Watchers),
		ExpectedEvents:    int64(w.Expected),
		MissedEvents:      int64(w.Missed),
		DuplicateEvents:   int64(w.Duplicate),
		CancelledWatchers: int64(w.Cancelled),
		ResumedWatchers:   int64(w.Resumed),
		Replays:           int64(w.Replays),
	}
}
