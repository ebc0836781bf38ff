package results

import (
	"slices"
	"time"
)

// Statistic names one number of a distribution.
type Statistic string

// The statistics of a distribution.
const (
	StatisticMean Statistic = "Mean"
	StatisticP50  Statistic = "P50"
	StatisticP90  Statistic = "P90"
	StatisticP95  Statistic = "P95"
	StatisticP99  Statistic = "P99"
	StatisticP999 Statistic = "P999"
	StatisticMax  Statistic = "Max"
)

// Summary is the result of a run, from the snapshots of its pods.
type Summary struct {
	RunUID string
	// Transport of all pods; empty if they differ.
	Transport string
	// Pods is how many snapshots there were, missing ones included.
	Pods int
	// Partial says that a snapshot is missing, was taken while the pod measured,
	// or is of a pod that failed.
	Partial bool
	// Stopped says that a pod's load ended before its bound.
	Stopped bool

	// Succeeded, Failed and Censored requests of the measured window, over all
	// operations that are requests. A part of a request counts if it did not
	// succeed.
	Succeeded, Failed, Censored uint64
	// Started counts the measured requests that were sent.
	Started uint64
	// Late adds up that of the operations: of a closed loop, or where it is not
	// known of one of them, it is nil.
	Late *uint64

	// Throughput is successful requests per second over the same operations. Bound
	// by duration: successes that completed in their pod's window ÷ Length.
	// Bound by requests: successes ÷ Length.
	Throughput float64
	// SteadyThroughput, only of a run bound by requests, is the rate from the
	// last pod's start to the first pod's last response, while all had work. It
	// is taken from the timelines, to the length of an interval; a pod without
	// one is taken to have gone at an even rate.
	SteadyThroughput float64
	// Tail, only of a run bound by requests, is the time from the first pod's
	// last response to the last pod's.
	Tail time.Duration

	// WindowStart is the earliest W0, WindowEnd the latest W1 (while the
	// window is open, the last response so far).
	WindowStart, WindowEnd time.Time
	// Length is what Throughput divides by. Bound by duration: the length of
	// the longest pod's window, so that skew does not count as time without
	// load. Bound by requests: from WindowStart to the last response.
	Length time.Duration
	// LongestWindow is the length of the longest pod's window, by that pod's clock
	// alone.
	LongestWindow time.Duration
	// StartSkew is the distance between the first and the last pod's start.
	StartSkew time.Duration

	// Operations are sorted by name.
	Operations []OperationSummary
	// Disturbances are what was done beside the load.
	Disturbances map[DisturbanceKind]*Disturbance
	// Watch adds up what became of the pods' watchers.
	Watch Watch
	// Requests counts the requests sent, by RPC and phase.
	Requests map[RPC]map[Phase]uint64
	// KeyBytes is the length of a key on the wire.
	KeyBytes int
	// Target is what pod 0 learned of the target; nil if that is not known.
	Target *Target
	// Validity says whether the numbers are of the target or of the clients.
	Validity Validity
	// Warnings say what makes the numbers weaker than they look.
	Warnings []string
}

// OperationSummary is the result of one operation.
type OperationSummary struct {
	Operation Operation
	// Succeeded, Failed and Censored requests.
	Succeeded, Failed, Censored uint64
	// Errors counts failed requests by gRPC status code.
	Errors map[string]uint64
	// Late counts, of the requests that a schedule set due, those that were sent so
	// late that it harms, however they ended: by more than bearable. It is nil if
	// there is no schedule, or if the buckets are lost.
	Late *uint64
	// Lost and Attempts are those of OperationResult.
	Lost, Attempts uint64
	// Throughput is successful requests per second.
	Throughput float64
	// Latency ranks answered and censored requests. It is what people see.
	Latency Distribution
	// Judged ranks failed requests too, above every latency. It is what
	// objectives are judged by.
	Judged Distribution
	// Unheard, of WatchEvent and WatchDelivery, is how many more of them there may
	// have been of puts that got no answer. Feared ranks these as Judged does what
	// failed.
	Unheard uint64
	Feared  Distribution
	// Service of answered requests.
	Service Distribution
	// Lateness of all requests that were sent.
	Lateness Distribution
}

// Distribution are the statistics of one distribution of durations.
type Distribution struct {
	Count       uint64
	Min, Stddev time.Duration
	// Values has the statistics that are known: none if Count is 0, no
	// percentile if the buckets are lost.
	Values map[Statistic]Value
	// ErrorBoundPPM is the greatest relative error of a percentile in parts
	// per million.
	ErrorBoundPPM int
}

// Summarize computes the result of a run from one snapshot for each of its
// pods, nil where nothing is known of a pod. Before the end it computes the
// result so far.
func Summarize(snapshots []*Snapshot) Summary {
	merged, t := Merge(snapshots), newTiming(snapshots)
	s := Summary{
		RunUID: merged.RunUID, Transport: merged.Transport, Pods: len(snapshots),
		Partial: isPartial(snapshots), Stopped: merged.Stopped, Started: merged.Started,
		WindowStart: merged.Window.Start, WindowEnd: t.end, Length: t.length, LongestWindow: t.longest,
		SteadyThroughput: t.steady, Tail: t.tail, StartSkew: t.startSkew,
		Disturbances: merged.Disturbances,
		Requests:     merged.Requests, KeyBytes: merged.KeyBytes, Target: watchedTarget(merged.Target, snapshots), Watch: merged.Watch,
	}
	unheard := unheardEvents(merged)
	for _, operation := range sortedKeys(merged.Operations) {
		o := summarizeOperation(operation, merged.Operations[operation], t)
		o.fear(unheard, merged.Operations[operation])
		s.Operations = append(s.Operations, o)
		if operation.IsEvent() {
			continue
		}
		s.Failed += o.Failed
		s.Censored += o.Censored
		if !operation.IsPart() {
			s.Succeeded += o.Succeeded
			s.Throughput += o.Throughput
		}
	}
	s.Late = allLate(s.Operations)
	s.Validity = judgeClients(snapshots, s.Operations)
	s.Warnings = warnings(&s, merged)
	return s
}

func isPartial(snapshots []*Snapshot) bool {
	for _, s := range snapshots {
		if s == nil || !s.HasMeasured() || s.Failure != nil || slices.Contains(s.Omitted, omittedOperations) {
			return true
		}
	}
	return len(snapshots) == 0
}

func summarizeOperation(operation Operation, r *OperationResult, t timing) OperationSummary {
	completed := r.Latency.Count()
	if !t.requestBound {
		completed = r.CompletedInWindow
	}
	ranked, judged := r.Ranked(), r.Judged()
	out := OperationSummary{
		Operation: operation,
		Succeeded: r.Latency.Count(), Failed: r.Failed.Count(), Censored: r.Censored.Count(),
		Errors:     r.Errors,
		Lost:       r.Lost,
		Attempts:   r.Attempts,
		Throughput: perSecond(completed, t.length),
		Latency:    ranked.distribution(), Judged: judged.distribution(),
		Service: r.Service.distribution(), Lateness: r.Lateness.distribution(),
	}
	out.Late = lateOf(&r.Lateness, out.Latency)
	return out
}

func perSecond(n uint64, length time.Duration) float64 {
	if length <= 0 {
		return 0
	}
	return float64(n) / length.Seconds()
}

// percentiles that are reported.
var percentiles = []struct {
	name     Statistic
	quantile float64
}{
	{StatisticP50, 0.50}, {StatisticP90, 0.90}, {StatisticP95, 0.95}, {StatisticP99, 0.99}, {StatisticP999, 0.999},
}

func (h *Histogram) distribution() Distribution {
	ranked := Ranked{union: *h, answered: *h}
	return ranked.distribution()
}

func (r *Ranked) distribution() Distribution {
	d := Distribution{
		Count: r.Count(), Min: r.union.Min(), Stddev: r.union.Stddev(),
		Values: map[Statistic]Value{}, ErrorBoundPPM: r.union.ErrorBound(),
	}
	d.set(StatisticMean)(r.Mean())
	for _, p := range percentiles {
		d.set(p.name)(r.Quantile(p.quantile))
	}
	d.set(StatisticMax)(r.Max())
	return d
}

// set keeps a value if it is known.
func (d *Distribution) set(name Statistic) func(Value, bool) {
	return func(v Value, known bool) {
		if known {
			d.Values[name] = v
		}
	}
}
