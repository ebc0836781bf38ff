package results

import (
	"maps"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Summary is the result of a run, computed from the snapshots of its pods.
type Summary struct {
	RunUID string
	// Transport of all pods; empty if they differ.
	Transport spec.Transport
	// Pods is the number of snapshots, including missing ones.
	Pods int
	// Partial means that a snapshot is missing, was taken before the pod had measured, or is from a pod that failed.
	Partial bool
	// Stopped means that a pod's load ended before its bound.
	Stopped bool

	// Succeeded, Failed and Censored count the requests of the measured window, over all operations that are requests.
	// A part of a request counts only if it did not succeed.
	Succeeded, Failed, Censored uint64
	// Started counts the measured requests that were sent.
	Started uint64
	// Late is the sum over the operations. It is nil if it is unknown for some operation.
	Late *uint64

	// Throughput is Completed ÷ Length, per second.
	Throughput float64
	// Completed are the successes of the same operations that count for Throughput. For a run bound by duration, they are
	// those that completed in their pod's window. For a run bound by requests, they are all.
	Completed uint64
	// SteadyThroughput, only for a run bound by requests, is the rate from the last pod's start to the first pod's last
	// response, while all pods had work. It is computed from the timelines, with the resolution of an interval. A pod
	// without a timeline counts with an even rate.
	SteadyThroughput float64
	// Tail, only for a run bound by requests, is the time from the first pod's last response to the last pod's last
	// response.
	Tail time.Duration

	// WindowStart is the earliest W0, WindowEnd the latest W1 (the last response so far while a window is open).
	WindowStart, WindowEnd time.Time
	// Length is the divisor of Throughput. For a run bound by duration, it is the longest pod's window, so that skew
	// does not count as time without load. For a run bound by requests, it is the time from WindowStart to the last
	// response.
	Length time.Duration
	// LongestWindow is the length of the longest pod's window, measured by that pod's clock.
	LongestWindow time.Duration
	// StartSkew is the time between the first and the last pod's start.
	StartSkew time.Duration

	// Operations are sorted by name.
	Operations []OperationSummary
	// Backlog and Service are those of all operations that are whole requests.
	Backlog, Service Distribution
	// Arrivals and Pauses are the sums over the pods.
	Arrivals Arrivals
	Pauses   Pauses
	// Disturbances are the disturbances beside the load.
	Disturbances map[spec.DisturbanceType]*Disturbance
	// Watch is the sum over the pods' watchers.
	Watch Watch
	// Requests counts the sent requests by RPC and phase.
	Requests map[spec.RPC]map[Phase]uint64
	// KeyBytes is the length of a key on the wire.
	KeyBytes int
	// Target is pod 0's view of the target; nil if unknown.
	Target *Target
	// SharesNode means that members run on the machine of all pods. Only a run without a cluster knows this without the
	// names of nodes.
	SharesNode bool
	// Processes holds the process figures, one entry per snapshot.
	Processes []PodProcess
	// LacksCourse means that the course of some pods is missing, and that of others is not.
	LacksCourse bool
	// Merged holds the counts of all pods. Copies of the Summary share it, so it must not be changed.
	Merged *Snapshot
}

// PodProcess holds the figures of one pod's process over the measured window.
type PodProcess struct {
	Index int
	// Silent: no snapshot of the pod is known.
	Silent bool
	// Window is nil if the pod has not reported it.
	Window *ProcessWindow
	// Started is how many measured requests the pod sent.
	Started uint64
}

// OperationSummary is the result of one operation.
type OperationSummary struct {
	Operation spec.Operation
	// Succeeded, Failed and Censored requests.
	Succeeded, Failed, Censored uint64
	// Errors counts failed requests by gRPC status code.
	Errors   map[string]uint64
	Examples Examples
	// Harmless is how late requests may be sent without distorting the latency.
	Harmless time.Duration
	// Late counts the requests that were sent later than that, independent of
	// their result. It is nil if the buckets are lost.
	Late *uint64
	// Lost and Attempts are the same as in OperationResult.
	Lost, Attempts uint64
	// Completed are the successes that count for Throughput, in successful requests per second.
	Completed  uint64
	Throughput float64
	// Latency ranks answered and censored requests. It is the latency shown to users.
	Latency Distribution
	// Judged also ranks failed requests, above every latency. Objectives use it.
	Judged Distribution
	// For WatchEvent and WatchDelivery: the maximum number of events of unanswered puts, which no other number
	// includes, and the distribution that ranks them like failed requests in Judged.
	UncountedEvents uint64
	JudgedAtWorst   Distribution
	// Service of answered requests.
	Service Distribution
	// Net is the latency without the lateness, of answered requests. NetJudged also ranks failed requests, above every
	// latency.
	Net, NetJudged Distribution
	// Lateness and Backlog of all requests that were sent; a request that did not wait for a free client has a backlog
	// of 0.
	Lateness, Backlog Distribution
}

// Distribution holds the statistics of one distribution of durations.
type Distribution struct {
	Count       uint64
	Min, Stddev time.Duration
	// Values holds the known statistics: none if Count is 0, no percentile if the buckets are lost.
	Values map[spec.Statistic]Value
	// ErrorBoundPPM is the greatest relative error of a percentile in parts per million.
	ErrorBoundPPM int
}

// MinBeyond is how many durations must lie above a percentile, so that it is not a matter of a few.
const MinBeyond = 10

// Percentiles are the percentiles that are reported, in order.
var Percentiles = []spec.Statistic{spec.StatisticP50, spec.StatisticP90, spec.StatisticP95, spec.StatisticP99, spec.StatisticP999}

// QuantileOf returns the quantile of a percentile, from 0 to 1; 0 for other statistics.
func QuantileOf(s spec.Statistic) float64 {
	return map[spec.Statistic]float64{
		spec.StatisticP50: 0.50, spec.StatisticP90: 0.90, spec.StatisticP95: 0.95, spec.StatisticP99: 0.99, spec.StatisticP999: 0.999,
	}[s]
}

// IsThin reports whether too few durations lie above a percentile. Other statistics are never thin.
func (d Distribution) IsThin(s spec.Statistic) bool { return isThin(s, d.Count) }

// IsThin is like Distribution.IsThin.
func (h *Histogram) IsThin(s spec.Statistic) bool { return isThin(s, h.count) }

// IsThin is like Distribution.IsThin.
func (r *Ranked) IsThin(s spec.Statistic) bool { return isThin(s, r.Count()) }

func isThin(s spec.Statistic, n uint64) bool {
	return QuantileOf(s) > 0 && Beyond(s, n) < MinBeyond
}

// Beyond is how many of n durations lie above a percentile.
func Beyond(s spec.Statistic, n uint64) uint64 { return n - min(rank(QuantileOf(s), n), n) }

// Summarize computes the result of a run from one snapshot per pod; nil means an unknown pod. Before the end it
// computes the result so far.
func Summarize(snapshots []*Snapshot) Summary {
	merged, t := Merge(snapshots), newTiming(snapshots)
	s := Summary{
		RunUID: merged.RunUID, Transport: merged.Transport, Pods: len(snapshots),
		Partial: isPartial(snapshots), Stopped: merged.Stopped, Started: merged.Started,
		WindowStart: merged.Window.Start, WindowEnd: t.end, Length: t.length, LongestWindow: t.longest,
		SteadyThroughput: t.steady, Tail: t.tail, StartSkew: t.startSkew,
		Disturbances: merged.Disturbances,
		Arrivals:     merged.Arrivals, Pauses: merged.Pauses,
		Requests: merged.Requests, KeyBytes: merged.KeyBytes, Target: observedTarget(merged.Target, snapshots), Watch: merged.Watch,
		Processes: processesOf(snapshots), Merged: merged,
	}
	uncounted := uncountedEvents(merged)
	for _, operation := range slices.Sorted(maps.Keys(merged.Operations)) {
		o := summarizeOperation(operation, merged.Operations[operation], t)
		o.rankUncounted(uncounted, merged.Operations[operation])
		s.Operations = append(s.Operations, o)
		if operation.IsEvent() {
			continue
		}
		s.Failed += o.Failed
		s.Censored += o.Censored
		if !operation.IsPart() {
			s.Succeeded += o.Succeeded
			s.Completed += o.Completed
		}
	}
	s.Throughput = perSecond(s.Completed, t.length)
	inCourse := Sum(merged.Timeline.Points).Succeeded
	s.LacksCourse = 0 < inCourse && inCourse < s.Succeeded
	s.Late = allLate(s.Operations)
	s.Backlog, s.Service = waiting(merged.Operations)
	return s
}

// waiting returns how long whole requests of all operations waited for a free client, and their service time.
func waiting(operations map[spec.Operation]*OperationResult) (backlog, service Distribution) {
	var b, s Histogram
	for operation, r := range operations {
		if operation.IsEvent() || operation.IsPart() {
			continue
		}
		own := r.backlogOfAll()
		b.Merge(&own)
		s.Merge(&r.Service)
	}
	return b.distribution(), s.distribution()
}

// backlogOfAll is how long each sent request waited for a free client.
func (r *OperationResult) backlogOfAll() Histogram {
	all := r.Backlog.Clone()
	all.RecordAlike(0, r.Lateness.Count()-min(r.Backlog.Count(), r.Lateness.Count()))
	return all
}

func processesOf(snapshots []*Snapshot) []PodProcess {
	out := make([]PodProcess, len(snapshots))
	for i, s := range snapshots {
		if s == nil {
			out[i] = PodProcess{Index: i, Silent: true}
			continue
		}
		out[i] = PodProcess{Index: s.Index, Window: s.Process, Started: s.Started}
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
	ranked, judged, net := r.Ranked(), r.Judged(), r.judgedNet()
	backlog := r.backlogOfAll()
	out := OperationSummary{
		Operation: operation,
		Succeeded: r.Latency.Count(), Failed: r.Failed.Count(), Censored: r.Censored.Count(),
		Errors:     r.Errors,
		Examples:   r.Examples,
		Lost:       r.Lost,
		Attempts:   r.Attempts,
		Completed:  completed,
		Throughput: perSecond(completed, t.length),
		Latency:    ranked.distribution(), Judged: judged.distribution(),
		Service: r.Service.distribution(), Net: r.NetLatency().distribution(), NetJudged: net.distribution(),
		Lateness: r.Lateness.distribution(), Backlog: backlog.distribution(),
	}
	out.Harmless = HarmlessLateness(out.Service.Values[spec.StatisticP50].Duration)
	if operation.IsTask() && t.planned == 0 {
		// Tasks that are due together, not over a ramp, are sent one after the other.
		out.Harmless = max(harmlessDelay, t.length/harmlessPart)
	}
	out.Late = lateOf(&r.Lateness, out.Service, out.Harmless)
	return out
}

// observedTarget returns the target as observed by client pod 0, the only pod that observes changes. If its view is
// lost, members from another pod's view are kept, but changes are unknown.
func observedTarget(merged *Target, snapshots []*Snapshot) *Target {
	lost := func(s *Snapshot) bool {
		return s != nil && s.Index == 0 && s.Target == nil && slices.Contains(s.Omitted, OmittedTarget)
	}
	if !slices.ContainsFunc(snapshots, lost) {
		return merged
	}
	out := Target{Unobserved: map[Aspect]string{}}
	if merged != nil {
		out.ClusterID, out.Members = merged.ClusterID, merged.Members
	}
	for _, a := range Aspects {
		out.Unobserved[a] = "only client pod 0 observes this, and its observations did not fit into its termination message (the text that a pod leaves when it ends)"
	}
	return &out
}

func perSecond(n uint64, length time.Duration) float64 {
	if length <= 0 {
		return 0
	}
	return float64(n) / length.Seconds()
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
	for _, p := range Percentiles {
		d.set(p)(r.Quantile(QuantileOf(p)))
	}
	d.set(spec.StatisticMax)(r.Max())
	return d
}

// set stores a value if it is known.
func (d *Distribution) set(name spec.Statistic) func(Value, bool) {
	return func(v Value, known bool) {
		if known {
			d.Values[name] = v
		}
	}
}

// Lateness and scheduling delays up to these limits do not distort a latency.
const (
	harmlessDelay = 250 * time.Microsecond
	harmlessPart  = 10
)

// HarmlessLateness returns how late requests may be sent without distorting the latency of requests with this median
// service time: 250 µs or a tenth of the median, whichever is more.
func HarmlessLateness(service time.Duration) time.Duration {
	return max(harmlessDelay, service/harmlessPart)
}

// lateOf counts the requests that were sent late enough to distort the latency; nil if unknown. If all requests failed
// and there is no service time, the strictest limit applies.
func lateOf(lateness *Histogram, service Distribution, harmless time.Duration) *uint64 {
	_, known := service.Values[spec.StatisticP50]
	n, counted := lateness.Over(harmless)
	if lateness.Count() == 0 || !known && service.Count > 0 || !counted {
		return nil
	}
	return &n
}

// allLate adds up the late requests of all operations.
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
