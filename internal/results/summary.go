package results

import (
	"maps"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Summary is the result of a run, from the snapshots of its pods.
type Summary struct {
	RunUID string
	// Transport of all pods; empty if they differ.
	Transport spec.Transport
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
	Disturbances map[spec.DisturbanceType]*Disturbance
	// Watch adds up what became of the pods' watchers.
	Watch Watch
	// Requests counts the requests sent, by RPC and phase.
	Requests map[spec.RPC]map[Phase]uint64
	// KeyBytes is the length of a key on the wire.
	KeyBytes int
	// Target is what pod 0 learned of the target; nil if that is not known.
	Target *Target
	// Processes are what the pods had of their machines, one for each snapshot.
	Processes []PodProcess
	// Merged is what all pods have counted. Who has the Summary shares it and must
	// not change it.
	Merged *Snapshot
}

// PodProcess is what one pod had of its machine over the measured window.
type PodProcess struct {
	Index int
	// Silent: nothing is known of the pod at all.
	Silent bool
	// Window is nil where the pod has not told.
	Window *ProcessWindow
}

// OperationSummary is the result of one operation.
type OperationSummary struct {
	Operation spec.Operation
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
	Values map[spec.Statistic]Value
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
		Processes: processesOf(snapshots), Merged: merged,
	}
	unheard := unheardEvents(merged)
	for _, operation := range slices.Sorted(maps.Keys(merged.Operations)) {
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
	return s
}

func processesOf(snapshots []*Snapshot) []PodProcess {
	out := make([]PodProcess, len(snapshots))
	for i, s := range snapshots {
		if s == nil {
			out[i] = PodProcess{Index: i, Silent: true}
			continue
		}
		out[i] = PodProcess{Index: s.Index, Window: s.Process}
	}
	return out
}

func isPartial(snapshots []*Snapshot) bool {
	for _, s := range snapshots {
		if s == nil || !s.HasMeasured() || s.Failure != nil || slices.Contains(s.Omitted, OmittedOperations) {
			return true
		}
	}
	return len(snapshots) == 0
}

func summarizeOperation(operation spec.Operation, r *OperationResult, t timing) OperationSummary {
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

// watchedTarget is the target as client pod 0 tells of it, which alone watches
// it. What others say holds, but not that nothing has changed.
func watchedTarget(merged *Target, snapshots []*Snapshot) *Target {
	lost := func(s *Snapshot) bool {
		return s != nil && s.Index == 0 && s.Target == nil && slices.Contains(s.Omitted, OmittedTarget)
	}
	if !slices.ContainsFunc(snapshots, lost) {
		return merged
	}
	out := Target{Unseen: map[Aspect]string{}}
	if merged != nil {
		out.ClusterID, out.Members = merged.ClusterID, merged.Members
	}
	for _, a := range Aspects {
		out.Unseen[a] = "the termination message of client pod 0, which saw it, had no room for it"
	}
	return &out
}

func perSecond(n uint64, length time.Duration) float64 {
	if length <= 0 {
		return 0
	}
	return float64(n) / length.Seconds()
}

// percentiles that are reported.
var percentiles = []struct {
	name     spec.Statistic
	quantile float64
}{
	{spec.StatisticP50, 0.50}, {spec.StatisticP90, 0.90}, {spec.StatisticP95, 0.95}, {spec.StatisticP99, 0.99}, {spec.StatisticP999, 0.999},
}

func (h *Histogram) distribution() Distribution {
	ranked := Ranked{union: *h, answered: *h}
	return ranked.distribution()
}

func (r *Ranked) distribution() Distribution {
	d := Distribution{
		Count: r.Count(), Min: r.union.Min(), Stddev: r.union.Stddev(),
		Values: map[spec.Statistic]Value{}, ErrorBoundPPM: r.union.ErrorBound(),
	}
	d.set(spec.StatisticMean)(r.Mean())
	for _, p := range percentiles {
		d.set(p.name)(r.Quantile(p.quantile))
	}
	d.set(spec.StatisticMax)(r.Max())
	return d
}

// set keeps a value if it is known.
func (d *Distribution) set(name spec.Statistic) func(Value, bool) {
	return func(v Value, known bool) {
		if known {
			d.Values[name] = v
		}
	}
}

// What a latency can bear of lateness, and of delays of scheduling.
const (
	bearableDelay = 250 * time.Microsecond
	bearableShare = 0.10
)

// Bearable is how late requests may be sent whose 99th percentile of latency this
// is: 250 µs or a tenth of it, whichever is more. What is later harms.
func Bearable(latency time.Duration) time.Duration {
	return max(bearableDelay, time.Duration(bearableShare*float64(latency)))
}

// lateOf counts what was so late that its latency could not bear it; nil if that
// is not known, or nothing could be late. Where nothing has a latency, because
// all failed, what bears the least is taken.
func lateOf(lateness *Histogram, latency Distribution) *uint64 {
	p99, known := latency.Values[spec.StatisticP99]
	n, counted := lateness.Over(Bearable(p99.Duration))
	if lateness.Count() == 0 || !known && latency.Count > 0 || !counted {
		return nil
	}
	return &n
}

// allLate adds up what was late of all operations that can be.
func allLate(operations []OperationSummary) *uint64 {
	var sum *uint64
	for _, o := range operations {
		switch {
		case o.Lateness.Count == 0:
		case o.Late == nil:
			return nil
		case sum == nil:
			sum = new(*o.Late)
		default:
			*sum += *o.Late
		}
	}
	return sum
}
