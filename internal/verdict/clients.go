package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Limits above which a client limits the measurement. The limit for late requests is results.HarmlessLateness.
const (
	maxThrottledShare = 0.01
	maxCPUShare       = 0.85
)

// Clients judges the clients of b by their processes' use of the machines and by the latencies of all of them. Each
// number is from the worst pod; a number that is unknown for some pod is absent.
func Clients(b *v1alpha1.EtcdBenchmark, s results.Summary) *v1alpha1.Validity {
	v := &v1alpha1.Validity{
		Verdict: v1alpha1.ValidityValid, Shared: shared(b),
		CPUPercent:                    percent(worst(s, (*results.ProcessWindow).CPUShare)),
		GarbageCollectionPercent:      percent(worst(s, figure(results.ProcessCollectionRatio))),
		ThrottledMicroseconds:         micros(worst(s, figure(results.ProcessThrottledSeconds))),
		GoroutineDelayP99Microseconds: micros(worst(s, figure(results.ProcessGoroutineDelaySeconds))),
		ThreadDelayMeanMicroseconds:   micros(worst(s, figure(results.ProcessThreadDelaySeconds))),
	}
	harmless, known := harmlessDelay(s.Operations)
	for _, r := range []*v1alpha1.ValidityReason{throttled(s), busy(s), delayed(s, harmless, known), late(s.Operations)} {
		if r != nil {
			v.Verdict = v1alpha1.ValidityClientBound
			v.Reasons = append(v.Reasons, *r)
		}
	}
	if r := unread(s, known); r != nil {
		v.Reasons = append(v.Reasons, *r)
		if v.Verdict == v1alpha1.ValidityValid {
			v.Verdict = v1alpha1.ValidityUnknown
		}
	}
	for i, r := range v.Reasons {
		v.Reasons[i].Message = text.Shorten(r.Message, v1alpha1.MaxMessageLength)
		if b.Spec.Profile != "" {
			v.Reasons[i].Change = cmp.Or(profileAdvice[r.Cause], r.Change)
		}
	}
	return v
}

// ownLoad explains how to choose settings that a profile fixes.
const ownLoad = "To choose pods, clients or transport, replace spec.profile with spec.workload, spec.load and spec.objectives, copied from status.resolved."

// profileAdvice replaces the advice for runs with a profile. The profile sets the load, so the advice must not name a
// field of spec.load.
var profileAdvice = map[v1alpha1.ValidityCause]string{
	v1alpha1.CauseThrottled: "Raise spec.pod.resources.limits.cpu or leave it out. " + ownLoad,
	v1alpha1.CauseBusy:      "Give client pods more CPU (spec.pod.resources, a larger node). " + ownLoad,
	v1alpha1.CauseDelayed: "Give client pods processors of their own: a larger spec.pod.resources.requests.cpu, or nodes apart from etcd's (spec.pod.affinity, nodeSelector). " +
		ownLoad,
	v1alpha1.CauseLate: "If Throttled, Busy or Delayed is reported too, remove that cause first. " +
		"Otherwise all of the profile's clients were waiting for etcd, which did not keep up with the profile's rate: choose a smaller spec.profile. " + ownLoad,
}

// shared reports whether a client pod ran on the node of a member.
func shared(b *v1alpha1.EtcdBenchmark) v1alpha1.SharedWithMembers {
	for _, p := range b.Status.Pods {
		if t := b.Status.Target; p.Node != "" && t != nil && slices.Contains(t.Nodes, p.Node) {
			return v1alpha1.SharedNode
		}
	}
	return ""
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

type reader func(*results.ProcessWindow) (float64, bool)

func figure(f results.ProcessFigure) reader {
	return func(w *results.ProcessWindow) (float64, bool) { return w.Value(f) }
}

// worstPod returns the pod with the highest value, nil if no pod has one.
func worstPod(s results.Summary, read reader) (worst *results.PodProcess, value float64) {
	for i, p := range s.Processes {
		if v, known := read(p.Window); known && (worst == nil || v > value) {
			worst, value = &s.Processes[i], v
		}
	}
	return worst, value
}

// worst returns the highest value, nil if it is unknown for some pod.
func worst(s results.Summary, read reader) *float64 {
	unknown := slices.ContainsFunc(s.Processes, func(p results.PodProcess) bool {
		_, known := read(p.Window)
		return !known
	})
	if pod, value := worstPod(s, read); pod != nil && !unknown {
		return &value
	}
	return nil
}

func throttled(s results.Summary) *v1alpha1.ValidityReason {
	pod, share := worstPod(s, (*results.ProcessWindow).ThrottledShare)
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
	pod, share := worstPod(s, (*results.ProcessWindow).CPUShare)
	if pod == nil || share <= maxCPUShare {
		return nil
	}
	available, _ := pod.Window.Available()
	return &v1alpha1.ValidityReason{
		Cause: v1alpha1.CauseBusy,
		Message: fmt.Sprintf("Client pod %d used %.0f %% of the %.4g processors that it may use (harmless up to %.0f %%).",
			pod.Index, 100*share, available, 100*maxCPUShare),
		Change: "Give client pods more CPU (spec.pod.resources, a larger node), share the load among more of them (spec.load.pods), or use load.transport Fast where the workload allows it.",
	}
}

// harmlessDelay returns the delay that does not distort the latency of the fastest operation. It ignores events, whose
// latency can be near 0. It returns false if no percentile is known.
func harmlessDelay(operations []results.OperationSummary) (time.Duration, bool) {
	least, known := time.Duration(0), false
	for _, o := range operations {
		if o.Operation.IsEvent() {
			continue
		}
		if p99, ok := o.Latency.Values[spec.StatisticP99]; ok && (!known || p99.Duration < least) {
			least, known = p99.Duration, true
		}
	}
	return results.HarmlessLateness(least), known
}

func delayed(s results.Summary, atMost time.Duration, known bool) *v1alpha1.ValidityReason {
	goroutines, ofGoroutines := worstPod(s, figure(results.ProcessGoroutineDelaySeconds))
	threads, ofThreads := worstPod(s, figure(results.ProcessThreadDelaySeconds))
	r := &v1alpha1.ValidityReason{
		Cause: v1alpha1.CauseDelayed,
		Change: "Give client pods processors of their own: a larger spec.pod.resources.requests.cpu, nodes apart from etcd's (spec.pod.affinity, nodeSelector), " +
			"fewer clients for each pod (spec.load.pods), or load.transport Fast where the workload allows it.",
	}
	switch {
	case !known:
		return nil
	case goroutines != nil && results.Seconds(ofGoroutines) > atMost:
		r.Message = fmt.Sprintf("Ready goroutines of client pod %d waited %v (p99) for a thread (harmless up to %v).",
			goroutines.Index, rounded(results.Seconds(ofGoroutines)), rounded(atMost))
	case threads != nil && results.Seconds(ofThreads) > atMost:
		r.Message = fmt.Sprintf("Ready threads of client pod %d waited %v for a processor on average (harmless up to %v).",
			threads.Index, rounded(results.Seconds(ofThreads)), rounded(atMost))
	default:
		return nil
	}
	return r
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

// late reports the operation whose lateness is greatest in relation to its own latency.
func late(operations []results.OperationSummary) *v1alpha1.ValidityReason {
	lateness := func(o *results.OperationSummary) time.Duration {
		return o.Lateness.Values[spec.StatisticP99].Duration
	}
	harmless := func(o *results.OperationSummary) time.Duration {
		return results.HarmlessLateness(o.Latency.Values[spec.StatisticP99].Duration)
	}
	excess := func(o *results.OperationSummary) float64 { return float64(lateness(o)) / float64(harmless(o)) }
	var found *results.OperationSummary
	for i := range operations {
		if o := &operations[i]; excess(o) > 1 && (found == nil || excess(o) > excess(found)) {
			found = o
		}
	}
	if found == nil {
		return nil
	}
	return &v1alpha1.ValidityReason{
		Cause: v1alpha1.CauseLate,
		Message: fmt.Sprintf("%s requests were sent %v late (p99; harmless up to %v). They waited for a free client or a processor.",
			found.Operation, rounded(lateness(found)), rounded(harmless(found))),
		Change: "If Throttled, Busy or Delayed is reported too, remove that cause first. Otherwise all clients were waiting: etcd did not keep up with the rate, or spec.load.clients is too small for it.",
	}
}

// unread reports which figures are missing for a verdict on the client.
func unread(s results.Summary, percentiles bool) *v1alpha1.ValidityReason {
	message := ""
	switch pod, why := unreadPod(s); {
	case len(s.Processes) == 0:
		message = "The run has no client pod, so no CPU figures are known."
	case why != "":
		message = fmt.Sprintf("The CPU figures of client pod %d are not known: %s.", pod, why)
	case !percentiles:
		message = "No latency percentile is known, so a delay of the client cannot be judged."
	default:
		for _, o := range s.Operations {
			if _, known := o.Lateness.Values[spec.StatisticP99]; o.Lateness.Count > 0 && !known {
				message = fmt.Sprintf("It is not known how late %s requests were sent.", o.Operation)
			}
		}
	}
	if message == "" {
		return nil
	}
	return &v1alpha1.ValidityReason{Cause: v1alpha1.CauseUnread, Message: message,
		Change: "If the pod reported, run it on Linux with a visible control group. If it did not, read its log. Check CPU use and lateness yourself."}
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

// checkClients makes a passed run Unknown if the clients were a limit, because the target did not get the requested
// load. A missed objective stays missed, but its message names the client as a possible cause.
func checkClients(c *metav1.Condition, b *v1alpha1.EtcdBenchmark, s *results.Summary) *metav1.Condition {
	if s == nil {
		return c
	}
	v := Clients(b, *s)
	if v.Verdict != v1alpha1.ValidityClientBound {
		return c
	}
	why := "The client was itself a limit (" + causes(v) + "); see status.summary.validity."
	if c.Status == metav1.ConditionTrue {
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonClientBound
		why += " The measured numbers meet the objectives."
	} else {
		why = c.Message + " " + why
	}
	c.Message = why
	return c
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
