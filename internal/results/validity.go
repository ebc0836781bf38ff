package results

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Verdict says whether a result is one of the target or one of its client.
type Verdict string

// The verdicts on a result.
const (
	// VerdictValid: nothing that was looked at shows the client in the result.
	VerdictValid Verdict = "Valid"
	// VerdictClientBound: the client was itself a limit.
	VerdictClientBound Verdict = "ClientBound"
	// VerdictUnknown: something could not be read, and what could shows nothing.
	VerdictUnknown Verdict = "Unknown"
)

// Cause is what shows, or keeps from knowing, that the client was a limit.
type Cause string

// The causes, in the order in which they are looked for.
const (
	// CauseThrottled: the quota of a pod was used up, and the pod kept waiting.
	CauseThrottled Cause = "Throttled"
	// CauseBusy: a pod used most of the processor time that it may use.
	CauseBusy Cause = "Busy"
	// CauseDelayed: a pod's work waited for a processor.
	CauseDelayed Cause = "Delayed"
	// CauseLate: requests were sent later than they were due.
	CauseLate Cause = "Late"
	// CauseUnread: something that would tell could not be read.
	CauseUnread Cause = "Unread"
)

// Limits above which a client is itself a limit.
const (
	maxThrottledShare = 0.01
	maxCPUShare       = 0.85
	// maxDelay and maxDelayShare of the 99th percentile of latency bound the
	// 99th percentile of lateness, and delays of scheduling.
	maxDelay      = 250 * time.Microsecond
	maxDelayShare = 0.10
)

// Validity says whether a result is one of the target or one of its client,
// and by what. The numbers are those of the worst pod; one that is nil is not
// known of all pods.
type Validity struct {
	Verdict Verdict
	// Reasons for a verdict other than Valid, one for each cause at most.
	Reasons []Reason
	// CPUShare and CollectionShare are parts of what a pod may use, and of what
	// it used.
	CPUShare, CollectionShare *float64
	Throttled                 *time.Duration
	// GoroutineDelay is a 99th percentile, ThreadDelay a mean.
	GoroutineDelay, ThreadDelay *time.Duration
}

// Reason is one ground of a verdict, for people.
type Reason struct {
	Cause   Cause
	Message string
	// Change is what to do about it.
	Change string
}

// judgeClients judges the clients of a run by what their processes had, and by
// the latencies of all of them.
func judgeClients(snapshots []*Snapshot, operations []OperationSummary) Validity {
	v := Validity{Verdict: VerdictValid}
	v.CPUShare = worst(snapshots, (*ProcessWindow).CPUShare)
	v.CollectionShare = worst(snapshots, figure(ProcessCollectionRatio))
	v.Throttled = duration(worst(snapshots, figure(ProcessThrottledSeconds)))
	v.GoroutineDelay = duration(worst(snapshots, figure(ProcessGoroutineDelaySeconds)))
	v.ThreadDelay = duration(worst(snapshots, figure(ProcessThreadDelaySeconds)))
	bearable, known := bearableDelay(operations)
	for _, r := range []*Reason{
		throttled(snapshots), busy(snapshots), delayed(snapshots, bearable, known), late(operations),
	} {
		if r != nil {
			v.Verdict = VerdictClientBound
			v.Reasons = append(v.Reasons, *r)
		}
	}
	if r := unread(snapshots, operations, known); r != nil {
		v.Reasons = append(v.Reasons, *r)
		if v.Verdict == VerdictValid {
			v.Verdict = VerdictUnknown
		}
	}
	return v
}

type reader func(*ProcessWindow) (float64, bool)

func figure(f ProcessFigure) reader {
	return func(w *ProcessWindow) (float64, bool) { return w.Value(f) }
}

// worstPod returns the pod with the highest value, nil if no pod has one.
func worstPod(snapshots []*Snapshot, read reader) (worst *Snapshot, value float64) {
	for _, s := range snapshots {
		if s == nil {
			continue
		}
		if v, known := read(s.Process); known && (worst == nil || v > value) {
			worst, value = s, v
		}
	}
	return worst, value
}

// worst is the highest value, nil if it is not known of all pods.
func worst(snapshots []*Snapshot, read reader) *float64 {
	unknown := slices.ContainsFunc(snapshots, func(s *Snapshot) bool {
		if s == nil {
			return true
		}
		_, known := read(s.Process)
		return !known
	})
	if pod, value := worstPod(snapshots, read); pod != nil && !unknown {
		return &value
	}
	return nil
}

func duration(inSeconds *float64) *time.Duration {
	if inSeconds == nil {
		return nil
	}
	return new(seconds(*inSeconds))
}

func throttled(snapshots []*Snapshot) *Reason {
	pod, share := worstPod(snapshots, (*ProcessWindow).ThrottledShare)
	if pod == nil || share <= maxThrottledShare {
		return nil
	}
	quota := ""
	if processors, limited := pod.Process.Value(ProcessQuotaProcessors); limited {
		quota = fmt.Sprintf(" of %.4g processors", processors)
	}
	return &Reason{
		Cause: CauseThrottled,
		Message: fmt.Sprintf("Pod %d was throttled for %.1f %% of the window, on average of the processors that it uses (harmless up to %.0f %%): it had used up its CPU quota%s.",
			pod.Index, 100*share, 100*maxThrottledShare, quota),
		Change: "Raise spec.pod.resources.limits.cpu or leave it out, or share the load among more pods (spec.load.pods).",
	}
}

func busy(snapshots []*Snapshot) *Reason {
	pod, share := worstPod(snapshots, (*ProcessWindow).CPUShare)
	if pod == nil || share <= maxCPUShare {
		return nil
	}
	available, _ := pod.Process.Available()
	return &Reason{
		Cause: CauseBusy,
		Message: fmt.Sprintf("Pod %d used %.0f %% of the %.4g processors that it may use (harmless up to %.0f %%).",
			pod.Index, 100*share, available, 100*maxCPUShare),
		Change: "Give client pods more CPU (spec.pod.resources, a larger node), share the load among more of them (spec.load.pods), or use load.transport Fast where the workload allows it.",
	}
}

// bearableDelay is what latency can bear: that of the fastest operation, but for
// events, which may take next to no time. It is false where percentiles are not
// known.
func bearableDelay(operations []OperationSummary) (time.Duration, bool) {
	least, known := time.Duration(0), false
	for _, o := range operations {
		if o.Operation.IsEvent() {
			continue
		}
		if p99, ok := o.Latency.Values[StatisticP99]; ok && (!known || p99.Duration < least) {
			least, known = p99.Duration, true
		}
	}
	return bearable(least), known
}

func bearable(latency time.Duration) time.Duration {
	return max(maxDelay, time.Duration(maxDelayShare*float64(latency)))
}

func delayed(snapshots []*Snapshot, atMost time.Duration, known bool) *Reason {
	goroutines, ofGoroutines := worstPod(snapshots, figure(ProcessGoroutineDelaySeconds))
	threads, ofThreads := worstPod(snapshots, figure(ProcessThreadDelaySeconds))
	r := &Reason{
		Cause: CauseDelayed,
		Change: "Give client pods processors of their own: a larger spec.pod.resources.requests.cpu, nodes apart from etcd's (spec.pod.affinity, nodeSelector), " +
			"fewer clients for each pod (spec.load.pods), or load.transport Fast where the workload allows it.",
	}
	switch {
	case !known:
		return nil
	case goroutines != nil && seconds(ofGoroutines) > atMost:
		r.Message = fmt.Sprintf("Work of pod %d that could go on waited up to %v (p99) for a thread; the latency can bear %v.",
			goroutines.Index, rounded(seconds(ofGoroutines)), rounded(atMost))
	case threads != nil && seconds(ofThreads) > atMost:
		r.Message = fmt.Sprintf("Threads of pod %d that could run waited %v for a processor, on average; the latency can bear %v.",
			threads.Index, rounded(seconds(ofThreads)), rounded(atMost))
	default:
		return nil
	}
	return r
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

// lateOf counts what was so late that its latency could not bear it; nil if that
// is not known, or nothing could be late. Where nothing has a latency, because
// all failed, what bears the least is taken.
func lateOf(lateness *Histogram, latency Distribution) *uint64 {
	p99, known := latency.Values[StatisticP99]
	n, counted := lateness.Over(bearable(p99.Duration))
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

// late names the operation that was sent the latest, as measured by its own
// latency.
func late(operations []OperationSummary) *Reason {
	var found *OperationSummary
	excess := func(o *OperationSummary) float64 {
		return float64(o.Lateness.Values[StatisticP99].Duration) / float64(bearable(o.Latency.Values[StatisticP99].Duration))
	}
	for i := range operations {
		if o := &operations[i]; excess(o) > 1 && (found == nil || excess(o) > excess(found)) {
			found = o
		}
	}
	if found == nil {
		return nil
	}
	return &Reason{
		Cause: CauseLate,
		Message: fmt.Sprintf("%s requests were sent up to %v (p99) after they were due (harmless up to %v): that long they waited for a free client, or for the client's processor.",
			found.Operation, rounded(found.Lateness.Values[StatisticP99].Duration), rounded(bearable(found.Latency.Values[StatisticP99].Duration))),
		Change: "Where the processor was not the limit, all clients were waiting: etcd did not keep up with the rate, or spec.load.clients is too small for it. Where it was (Throttled, Busy or Delayed), or that is not known (Unread), give the clients more CPU.",
	}
}

// unread says of what it is not known whether it was a limit.
func unread(snapshots []*Snapshot, operations []OperationSummary, percentiles bool) *Reason {
	message := ""
	switch pod, why := unreadPod(snapshots); {
	case why != "":
		message = fmt.Sprintf("What pod %d had of its machine is not known: %s.", pod, why)
	case !percentiles:
		message = "No percentile of latency is known, by which a delay of the client could be judged."
	default:
		for _, o := range operations {
			if _, known := o.Lateness.Values[StatisticP99]; o.Lateness.Count > 0 && !known {
				message = fmt.Sprintf("No percentile of the lateness of %s requests is known.", o.Operation)
			}
		}
	}
	if message == "" {
		return nil
	}
	return &Reason{Cause: CauseUnread, Message: Printable(message), Change: "Where the clients run on Linux and see their own control group, all of it can be read; until then look at their CPU and at lateness."}
}

// unreadPod returns the first pod of which something is not known, and why.
func unreadPod(snapshots []*Snapshot) (index int, why string) {
	if len(snapshots) == 0 {
		return 0, "there is none"
	}
	for i, s := range snapshots {
		switch {
		case s == nil:
			return i, "it has reported nothing"
		case s.Process == nil:
			return i, "it has not reported it"
		case !s.Process.isWhole():
			return i, cmp.Or(s.Process.Unknown, "some of its figures are missing")
		}
	}
	return 0, ""
}

// isWhole says whether all is known by which a client is judged.
func (w *ProcessWindow) isWhole() bool {
	for _, f := range processFigures {
		if _, known := w.Value(f); !known && f != ProcessQuotaProcessors && f != ProcessCollectionRatio {
			return false
		}
	}
	return true
}
