package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Limits above which a client limits the measurement. The limit for late requests is results.HarmlessLateness.
const (
	maxThrottledShare = 0.01
	maxCPUShare       = 0.85
	maxLoopShare      = 0.85
)

// Clients judges the clients of b by their processes' use of the machines and by the latencies of all of them. Each
// number is from the worst pod; a number that is unknown for some pod is absent.
func Clients(b *v1alpha1.EtcdBenchmark, s results.Summary) *v1alpha1.Validity {
	v := &v1alpha1.Validity{
		Verdict: v1alpha1.ValidityValid, Shared: shared(b),
		CPUPercent:                    percent(worst(s, ofWindow((*results.ProcessWindow).CPUShare))),
		GarbageCollectionPercent:      percent(worst(s, figure(results.ProcessCollectionRatio))),
		ThrottledMicroseconds:         micros(worst(s, figure(results.ProcessThrottledSeconds))),
		GoroutineDelayP99Microseconds: micros(worst(s, figure(results.ProcessGoroutineDelaySeconds))),
		DelayPerRequestMicroseconds:   micros(worst(s, delayPerRequest(s.Transport))),
		BusiestLoopPercent:            percent(worst(s, figure(results.ProcessLoopBusyRatio))),
	}
	if b.OnlyObserves() {
		// What is wrong with the members shows in their own numbers.
		return v
	}
	harmless, known := harmlessDelay(s.Operations)
	// Only the first one is reported, because the later ones often follow from it.
	for _, r := range []*v1alpha1.ValidityReason{
		throttled(s), busy(s), loopBusy(s, ofWindow((*results.ProcessWindow).LoopShare)), delayed(s, harmless, known),
		loopBusy(s, figure(results.ProcessLoopBusyRatio)), late(s.Operations),
	} {
		if r != nil {
			v.Verdict = v1alpha1.ValidityClientBound
			v.Reasons = append(v.Reasons, *r)
			break
		}
	}
	if r := unread(s, known); r != nil {
		v.Reasons = append(v.Reasons, *r)
		if v.Verdict == v1alpha1.ValidityValid {
			v.Verdict = v1alpha1.ValidityUnknown
		}
	}
	v.AddedPerMillion = added(b, s, v)
	for i, r := range v.Reasons {
		v.Reasons[i].Message = text.Shorten(r.Message, v1alpha1.MaxMessageLength)
		if b.Spec.IsDerived() {
			v.Reasons[i].Change = cmp.Or(profileAdvice[r.Cause], r.Change)
		}
	}
	return v
}

// ownLoad explains how to choose settings that a profile or a number of nodes fixes.
const ownLoad = "To choose pods, clients or transport, replace spec.profile or spec.kubernetes with spec.workload, spec.load and spec.objectives, copied from status.resolved."

// profileAdvice replaces the advice for runs with a profile or a number of nodes, which set the load. So the advice must
// not name a field of spec.load.
var profileAdvice = map[v1alpha1.ValidityCause]string{
	v1alpha1.CauseThrottled: "Raise spec.pod.resources.limits.cpu or leave it out. " + ownLoad,
	v1alpha1.CauseBusy:      "Give client pods more CPU (spec.pod.resources, a larger node). " + ownLoad,
	v1alpha1.CauseLoop:      "Give client pods more CPU (spec.pod.resources, a larger node). " + ownLoad,
	v1alpha1.CauseDelayed: "Give client pods processors of their own: a larger spec.pod.resources.requests.cpu, or nodes apart from etcd's (spec.pod.affinity, nodeSelector). " +
		ownLoad,
	v1alpha1.CauseLate: "Give client pods processors of their own. " + ownLoad,
}

// shared reports whether a client pod, or a pod of another run, ran on the node of a member.
func shared(b *v1alpha1.EtcdBenchmark) v1alpha1.SharedWithMembers {
	if e := b.Status.Ephemeral; e != nil && e.NodesShared {
		return v1alpha1.SharedNode
	}
	for _, p := range b.Status.Pods {
		if isMembersNode(b, p.Node) {
			return v1alpha1.SharedNode
		}
	}
	return ""
}

func isMembersNode(b *v1alpha1.EtcdBenchmark, node string) bool {
	return node != "" && b.Status.Target != nil && slices.Contains(b.Status.Target.Nodes, node)
}

func percent(share *float64) *int32 {
	if share == nil {
		return nil
	}
	return new(int32(math.Round(100 * min(*share, maxShare))))
}

// maxShare bounds the share of processors that a pod can report.
const maxShare = 1 << 20

func micros(inSeconds *float64) *int64 {
	if inSeconds == nil {
		return nil
	}
	return new(results.Seconds(*inSeconds).Round(time.Microsecond).Microseconds())
}

// reader returns a figure of a pod; false if it is unknown.
type reader func(results.PodProcess) (float64, bool)

func ofWindow(read func(*results.ProcessWindow) (float64, bool)) reader {
	return func(p results.PodProcess) (float64, bool) { return read(p.Window) }
}

func figure(f results.ProcessFigure) reader {
	return func(p results.PodProcess) (float64, bool) { return p.Window.Value(f) }
}

// worstPod returns the pod with the highest value, nil if no pod has one.
func worstPod(s results.Summary, read reader) (worst *results.PodProcess, value float64) {
	for i, p := range s.Processes {
		if v, known := read(p); known && (worst == nil || v > value) {
			worst, value = &s.Processes[i], v
		}
	}
	return worst, value
}

// worst returns the highest value, nil if it is unknown for some pod.
func worst(s results.Summary, read reader) *float64 {
	unknown := slices.ContainsFunc(s.Processes, func(p results.PodProcess) bool {
		_, known := read(p)
		return !known
	})
	if pod, value := worstPod(s, read); pod != nil && !unknown {
		return &value
	}
	return nil
}

func throttled(s results.Summary) *v1alpha1.ValidityReason {
	pod, share := worstPod(s, ofWindow((*results.ProcessWindow).ThrottledShare))
	if pod == nil || share <= maxThrottledShare {
		return nil
	}
	quota := ""
	if processors, limited := pod.Window.Value(results.ProcessQuotaProcessors); limited {
		quota = fmt.Sprintf(" of %.4g processors", processors)
	}
	return &v1alpha1.ValidityReason{
		Cause: v1alpha1.CauseThrottled,
		Message: fmt.Sprintf("Client pod %d used up its CPU quota%s. It was throttled for %.1f %% of the window, averaged over its processors (harmless up to %.0f %%).",
			pod.Index, quota, 100*share, 100*maxThrottledShare),
		Change: "Raise spec.pod.resources.limits.cpu or leave it out, or share the load among more pods (spec.load.pods).",
	}
}

func busy(s results.Summary) *v1alpha1.ValidityReason {
	pod, share := worstPod(s, ofWindow((*results.ProcessWindow).CPUShare))
	if pod == nil || share <= maxCPUShare {
		return nil
	}
	available, _ := pod.Window.Available()
	return &v1alpha1.ValidityReason{
		Cause: v1alpha1.CauseBusy,
		Message: fmt.Sprintf("Client pod %d used %.0f %% of the %.4g processors that it may use (harmless up to %.0f %%).",
			pod.Index, 100*share, available, 100*maxCPUShare),
		Change: "Give client pods more CPU (spec.pod.resources, a larger node), share the load among more of them (spec.load.pods), or use spec.load.transport: Fast where the workload allows it.",
	}
}

// loopBusy finds a full loop. It is asked first without the waits for a processor, so that a loop that mostly waits counts
// as delayed; and then with them, because a loop that is never free delays its requests for whatever reason.
func loopBusy(s results.Summary, read reader) *v1alpha1.ValidityReason {
	pod, share := worstPod(s, read)
	if pod == nil || share <= maxLoopShare {
		return nil
	}
	return &v1alpha1.ValidityReason{
		Cause: v1alpha1.CauseLoop,
		Message: fmt.Sprintf("One event loop of client pod %d was busy for %.0f %% of the window (harmless up to %.0f %%). A loop serves its connections one after the other.",
			pod.Index, 100*share, 100*maxLoopShare),
		Change: "Spread the load over more connections (spec.load.connections) or more pods (spec.load.pods), or give client pods more CPU.",
	}
}

// harmlessDelay returns the delay that does not distort the latency of the fastest operation. It ignores events, whose
// service time is not known. It returns false if no percentile is known.
func harmlessDelay(operations []results.OperationSummary) (time.Duration, bool) {
	least, known := time.Duration(0), false
	for _, o := range operations {
		if o.Operation.IsEvent() {
			continue
		}
		if p50, ok := o.Service.Values[spec.StatisticP50]; ok && (!known || p50.Duration < least) {
			least, known = p50.Duration, true
		}
	}
	return results.HarmlessLateness(least), known
}

// maxWakeups is how many wake-ups of threads, or of goroutines, a request needs at most. With more, the rest are not
// about requests: a process that sends a request a second wakes up far more often.
const maxWakeups = 8

// delayPerRequest is how long threads waited for a processor, for each request. Without event loops, requests also wait
// for goroutines; a wait of a goroutine for a thread that waits for a processor counts twice.
func delayPerRequest(transport spec.Transport) reader { return delayOf(transport, 1, 1) }

// delayOf is a sum of how long threads and goroutines waited for each request, with these weights.
func delayOf(transport spec.Transport, ofThread, ofGoroutine float64) reader {
	return func(p results.PodProcess) (float64, bool) {
		of := func(total, wakeups results.ProcessFigure) (perRequest float64, known bool) {
			delay, known := p.Window.Value(total)
			count, counted := p.Window.Value(wakeups)
			return delay / max(float64(p.Started)*p.Window.Sessions(), count/maxWakeups, 1), known && counted
		}
		threads, known := of(results.ProcessThreadDelaySeconds, results.ProcessThreadWakeups)
		if transport.Loops() {
			return ofThread * threads, known
		}
		goroutines, ofGoroutines := of(results.ProcessGoroutineDelayTotalSeconds, results.ProcessGoroutineWakeups)
		return ofThread*threads + ofGoroutine*goroutines, known && ofGoroutines
	}
}

// delayed compares the delay per request with the service time. A delay while many requests are in flight delays all of
// them, so the true delay can be longer.
func delayed(s results.Summary, atMost time.Duration, known bool) *v1alpha1.ValidityReason {
	pod, value := worstPod(s, delayPerRequest(s.Transport))
	if pod == nil || !known || results.Seconds(value) <= atMost {
		return nil
	}
	return &v1alpha1.ValidityReason{
		Cause: v1alpha1.CauseDelayed,
		Message: fmt.Sprintf("Work of client pod %d waited %s per request for a processor (harmless up to %s).",
			pod.Index, text.Beside(atMost, results.Seconds(value)), text.Duration(atMost)),
		Change: "Give client pods processors of their own: a larger spec.pod.resources.requests.cpu, nodes apart from etcd's (spec.pod.affinity, nodeSelector), " +
			"fewer clients for each pod (spec.load.pods), or spec.load.transport: Fast where the workload allows it.",
	}
}

// late reports the operation whose lateness is greatest in relation to its own service time.
func late(operations []results.OperationSummary) *v1alpha1.ValidityReason {
	var found *results.OperationSummary
	var most float64
	for i := range operations {
		o := &operations[i]
		if _, known := o.Service.Values[spec.StatisticP50]; !known && o.Service.Count > 0 {
			continue
		}
		if excess := float64(tailOf(o.Lateness)) / float64(harmlessFor(o)); excess > max(most, 1) {
			found, most = o, excess
		}
	}
	if found == nil {
		return nil
	}
	return &v1alpha1.ValidityReason{
		Cause: v1alpha1.CauseLate,
		Message: fmt.Sprintf("The load generator sent %s requests up to %s late (%s) although a client was free; more than %s counts as late.",
			found.Operation, text.Beside(harmlessFor(found), tailOf(found.Lateness)), strings.ToLower(string(tail(found.Lateness))), text.Duration(harmlessFor(found))),
		Change: "Give client pods processors of their own, or use spec.load.transport: Fast where the workload allows it.",
	}
}

// harmlessFor is the lateness that does not distort the latency of an operation.
func harmlessFor(o *results.OperationSummary) time.Duration {
	return max(o.Harmless, results.HarmlessLateness(o.Service.Values[spec.StatisticP50].Duration))
}

// tail is P99, or the highest percentile below it with enough requests above; empty if there is none.
func tail(d results.Distribution) spec.Statistic {
	for _, p := range slices.Backward(results.Percentiles) {
		if p != spec.StatisticP999 && !d.IsThin(p) {
			return p
		}
	}
	return ""
}

// tailOf is the value of the tail, 0 without one.
func tailOf(d results.Distribution) time.Duration { return d.Values[tail(d)].Duration }

// unread reports which figures are missing for a verdict on the client.
func unread(s results.Summary, percentiles bool) *v1alpha1.ValidityReason {
	message := ""
	change := "If a control group or threads could not be read: run the pod on a Linux node and let it read its cgroup files. If the pod reported nothing: read its log."
	switch pod, why := unreadPod(s); {
	case len(s.Processes) == 0:
		message = "The run has no client pod, so no CPU figures are known."
	case why != "":
		message = fmt.Sprintf("The CPU figures of client pod %d are not known: %s.", pod, why)
	case !percentiles && !slices.ContainsFunc(s.Operations, func(o results.OperationSummary) bool { return o.Succeeded > 0 && !o.Operation.IsEvent() }):
		message = "No request succeeded, so no service time is known, and a delay of the client cannot be judged."
		change = "Look up why the requests failed, and repeat the run."
	case !percentiles:
		message = "No percentile of the service time is known, so a delay of the client cannot be judged."
	default:
		for _, o := range s.Operations {
			_, known := o.Lateness.Values[spec.StatisticP99]
			_, compared := o.Service.Values[spec.StatisticP50]
			if o.Lateness.Count > 0 && !known || o.Service.Count > 0 && !compared {
				message = fmt.Sprintf("It is not known how late %s requests were sent.", o.Operation)
			}
		}
	}
	if message == "" {
		return nil
	}
	return &v1alpha1.ValidityReason{Cause: v1alpha1.CauseUnread, Message: message, Change: change}
}

// unreadPod returns the first pod with missing figures, and the reason; it is empty if no figure is missing.
func unreadPod(s results.Summary) (index int, why string) {
	for i, p := range s.Processes {
		switch {
		case p.Silent:
			return i, "it reported nothing"
		case p.Window == nil:
			return i, "it did not report them"
		case !p.Window.IsWhole():
			return i, cmp.Or(p.Window.Unknown, "some of its figures are missing")
		}
	}
	return 0, ""
}

func causes(v *v1alpha1.Validity) string {
	var all []string
	for _, r := range v.Reasons {
		if r.Cause != v1alpha1.CauseUnread {
			all = append(all, string(r.Cause))
		}
	}
	return strings.Join(all, ", ")
}
