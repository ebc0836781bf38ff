package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Limits above which a run gets a warning.
const (
	// maxTailShare is the longest tail of a run bound by requests, as a share of its length. Beyond it, the slowest pod
	// determines the throughput.
	maxTailShare = 0.10
	// maxSkewShare is the greatest start skew as a share of the length; during the skew not all pods send requests.
	maxSkewShare = 0.05
)

// warnings are the reasons why numbers are weaker than they look.
type warnings []string

// add appends a warning if the condition holds.
func (w *warnings) add(condition bool, format string, args ...any) {
	if condition {
		*w = append(*w, text.Printable(fmt.Sprintf(format, args...)))
	}
}

// Warnings returns the reasons why the numbers of b are weaker than they look, grouped by subject.
func Warnings(b *v1alpha1.EtcdBenchmark, s results.Summary) []string {
	var w warnings
	w.ofTiming(s)
	w.ofSilence(s.Merged.Timeline)
	w.add(!s.Partial && s.LacksCourse, "the course of some client pods is unknown, so the numbers of OVER TIME and "+
		"of the report's timeline are too low: a client pod did not answer in time, or its termination message had "+
		"no room for it")
	w.ofDelay(s)
	w.ofTarget(s.Merged.Target)
	w.ofVolumes(b)
	w.ofOwnMembers(b)
	w.ofMemory(s.Target)
	w.ofObservation(s.Merged)
	w.ofQueue(b.Status.Admission)
	w.ofPods(s.Merged)
	w.ofResent(s.Merged.Resent)
	w.ofSessions(b.Resolved().Load.SessionTimeout(), s.Merged.Sessions)
	w.ofWatchers(s.Watch)
	for _, o := range s.Operations {
		w.ofRequests(o)
	}
	w.ofDisturbances(b, s)
	return w[:min(len(w), v1alpha1.MaxWarnings)]
}

// AppendWarning adds a warning to a summary. It replaces the last warning if the list is full.
func AppendWarning(all []string, warning string) []string {
	return append(all[:min(len(all), v1alpha1.MaxWarnings-1)], text.Shorten(warning, v1alpha1.MaxWarningLength))
}

// ofTiming warns of pods that cannot be added up or did not send all the time.
func (w *warnings) ofTiming(s results.Summary) {
	w.add(s.Transport == "" && s.Pods > 0 && s.RunUID != "",
		"client pods used different transports: the merged latencies are not meaningful")
	w.add(s.Length > 0 && float64(s.Tail) > maxTailShare*float64(s.Length),
		"the last pod ended %v after the first (%.0f%% of the run): throughput includes that time, steadyThroughputPerSecond does not",
		text.Duration(s.Tail), 100*s.Tail.Seconds()/s.Length.Seconds())
	w.add(s.Length > 0 && float64(s.StartSkew) > maxSkewShare*float64(s.Length),
		"the last pod started %v after the first (%.0f%% of the run): during that time not all pods sent requests",
		text.Duration(s.StartSkew), 100*s.StartSkew.Seconds()/s.Length.Seconds())
}

// minSilence is the shortest time without a success that is worth a warning.
const minSilence = 10 * time.Second

// ofSilence warns of a time in which no request succeeded although one was in flight: it failed, or its response came
// afterwards and was slow. In an open loop of a low rate, silence alone is normal. A burst that receives bytes is not silent.
func (w *warnings) ofSilence(t results.Timeline) {
	began := -1
	for i, p := range t.Points {
		if p.Succeeded == 0 && p.Carried.Received == 0 {
			if began < 0 {
				began = i
			}
			continue
		}
		if began >= 0 {
			silence, failed := time.Duration(i-began)*t.Interval, uint64(0)
			for _, silent := range t.Points[began:i] {
				failed += silent.Failed
			}
			w.add(silence >= minSilence && (failed > 0 || p.Longest >= minSilence), "no request succeeded for %s, from %s after the start of the measured window on; then requests succeeded again",
				text.Duration(silence), text.Duration(time.Duration(began)*t.Interval))
		}
		began = -1
	}
}

// ofDelay warns of waits for a processor that are harmless for one request, but may have delayed all requests that were
// in flight. That is an estimate: the delay of one request × the mean number in flight.
func (w *warnings) ofDelay(s results.Summary) {
	atMost, known := harmlessDelay(s.Operations)
	pod, each := worstPod(s, delayPerRequest(s.Transport))
	if pod == nil || !known || s.Pods == 0 || results.Seconds(each) > atMost {
		return
	}
	n := inFlight(s, *pod)
	estimate := results.Seconds(each * n)
	// No request was delayed for longer than it took.
	if slowest := slowestService(s.Operations); slowest > 0 {
		estimate = min(estimate, slowest)
	}
	w.add(n > 1 && estimate > atMost, "work of client pod %d waited %s per request for a processor; with %.0f "+
		"requests in flight, each of them may have been delayed by up to %s because of this (an estimate)",
		pod.Index, text.Duration(results.Seconds(each)), n, text.Duration(estimate))
}

// slowestService is the longest time that a request took from when it was sent; 0 if it is not known. Events have none.
func slowestService(operations []results.OperationSummary) (slowest time.Duration) {
	for _, o := range operations {
		if !o.Operation.IsEvent() {
			slowest = max(slowest, o.Service.Values[spec.StatisticMax].Duration)
		}
	}
	return slowest
}

// ofTarget warns of different versions, missing quotas, and changes of the target.
func (w *warnings) ofTarget(t *results.Target) {
	if t == nil {
		return
	}
	versions := members(t, func(m results.Member) bool { return m.Version != "" }, func(m results.Member) string { return m.Version })
	slices.Sort(versions)
	versions = slices.Compact(versions)
	w.add(len(versions) > 1, "the members run different versions: %s", strings.Join(versions, ", "))
	if t.WriteEstimateBytes > 0 {
		names := members(t, func(m results.Member) bool {
			return m.QuotaBytes == 0 && m.Endpoint != "" && len(t.At(m.Endpoint)) == 1
		}, results.Member.Label)
		w.add(len(names) > 0, "%s reported no quota, so nothing checked whether the estimated %s MB fit into it; Status has the quota from etcd 3.6 on, /metrics before that, unless it is turned off",
			strings.Join(names, ", "), text.Grouped(t.WriteEstimateBytes/1_000_000))
	}
	for _, c := range t.Changes {
		w.add(true, "the target changed during the run, at %s (%s: %s): the numbers mix the time before and after", c.At.UTC().Format(time.RFC3339), c.Aspect, c.Detail)
	}
	w.ofLostMembers(t)
	elections := int64(0)
	for _, m := range t.Members {
		seen, _ := m.Window.Value(results.FigureLeaderChanges)
		elections = max(elections, text.Integer(seen))
	}
	w.add(elections > 0 && len(t.Changes) == 0, "the leader changed in the measured window: each member counted at most %d changes; the numbers mix the time before and after",
		elections)
}

// ofLostMembers warns of members that served their metrics at the start of the window, and not throughout.
func (w *warnings) ofLostMembers(t *results.Target) {
	begins := func(with string) func(results.Member) bool {
		return func(m results.Member) bool { return m.Window != nil && strings.HasPrefix(m.Window.Unknown, with) }
	}
	problem := func(m results.Member) string { return strings.TrimPrefix(m.Window.Unknown, results.UnknownAtEnd) }
	gone := begins(results.UnknownAtEnd + results.UnreadMetrics)
	if names := members(t, gone, results.Member.Label); len(names) > 0 {
		w.add(true, "%s served metrics at the start of the measured window, and not at its end: %s", strings.Join(names, ", "), members(t, gone, problem)[0])
	}
	names := members(t, begins(results.UnknownRestarted), results.Member.Label)
	w.add(len(names) > 0, "%s restarted in the measured window", strings.Join(names, ", "))
}

// maxMemoryFlush is the longest mean flush of a log that lies in memory. On tmpfs a flush takes about 1 µs; no disk is
// that fast.
const maxMemoryFlush = 5 * time.Microsecond

// ofMemory warns of members whose logs are not on a disk.
func (w *warnings) ofMemory(t *results.Target) {
	if t == nil {
		return
	}
	names := members(t, func(m results.Member) bool {
		flush, known := m.Window.Timing(results.TimerWALFsync)
		return known && flush.Count >= minObservations && flush.Mean < maxMemoryFlush
	}, results.Member.Label)
	w.add(len(names) > 0, "a flush of the log takes less than %s on %s: the data lies in memory, or nothing is flushed, so these numbers are not those of a store on a disk",
		text.Duration(maxMemoryFlush), strings.Join(names, ", "))
}

// ofVolumes warns of volumes that may be left.
func (w *warnings) ofVolumes(b *v1alpha1.EtcdBenchmark) {
	const unread = "the operator may not read storage classes: if the class keeps volumes, those of %s are left (kubectl get pv)"
	w.add(b.Status.Ephemeral != nil && b.Status.Ephemeral.ClassUnread, unread, "the members "+b.MembersName()+"-…")
	w.add(b.Status.Target != nil && b.Status.Target.ClassUnread, unread, "the client pods")
}

// ofOwnMembers warns of settings with which no store should be run, and of members that were lost.
func (w *warnings) ofOwnMembers(b *v1alpha1.EtcdBenchmark) {
	t := b.Spec.Target.Ephemeral
	if t == nil {
		return
	}
	for _, lost := range LostMembers(b) {
		w.add(true, "a member was lost during the run: %s", lost)
	}
	w.add(t.Settings["unsafe-no-fsync"] != "" && t.Settings["unsafe-no-fsync"] != "false", "the members' data is not durable, because they do not flush their log to disk (unsafe-no-fsync): an etcd on a disk is slower")
	w.add(t.Settings["forceSync"] == "no", "the members' data is not durable, because they do not flush their log to disk (forceSync): a ZooKeeper on a disk is slower")
	w.add(t.Storage != nil && t.Storage.EmptyDir != nil && t.Storage.EmptyDir.Medium == corev1.StorageMediumMemory, "the members' data is not durable, because it lies in memory (spec.target.ephemeral.storage): a store on a disk is slower")
}

// InMemory reports whether the log of a member is not on a disk, as far as its metrics tell.
func InMemory(m v1alpha1.MemberSummary) bool {
	flush := m.WALFsync
	return flush != nil && flush.Count >= minObservations && time.Duration(flush.MeanNanoseconds) < maxMemoryFlush
}

// members returns a text for each selected member.
func members(t *results.Target, meant func(results.Member) bool, say func(results.Member) string) (all []string) {
	for _, m := range t.Members {
		if meant(m) {
			all = append(all, say(m))
		}
	}
	return all
}

// ofObservation warns of parts of the target that were not observed, and of members without load.
func (w *warnings) ofObservation(s *results.Snapshot) {
	for _, rule := range slices.Sorted(maps.Keys(s.Unwatched)) {
		often, reason := "not always", s.Unwatched[rule]
		if why, never := strings.CutPrefix(reason, results.NeverWatched); never {
			often, reason = "never", why
		}
		w.add(true, "the guard could %s check its rule %s: %s", often, rule, reason)
	}
	t := s.Target
	if t == nil {
		return
	}
	w.add(t.Unlisted != "", "the target's members could not be listed: %s", t.Unlisted)
	for _, note := range t.Notes {
		w.add(true, "%s", note)
	}
	for _, address := range slices.Sorted(maps.Keys(t.Skipped)) {
		w.add(true, "an address of the target did not answer when client pods started, and they sent it no load: %s (%s)", address, t.Skipped[address])
	}
	shared := false
	for _, address := range slices.Sorted(maps.Keys(t.AnsweredBy)) {
		shared = shared || len(t.At(address)) > 1
		w.add(len(t.At(address)) > 1, "an address of the target leads to several members, as a load balancer does, so figures of single members may be missing: %s (%s)",
			address, strings.Join(labels(t, t.At(address)), ", "))
	}
	w.add(t.Unlocked, "the target has no lock that keeps other runs away: it does not serve leases as etcd does, or the user may not create the lock. Another run may have loaded it at the same time")
	for _, a := range slices.Sorted(maps.Keys(t.Unobserved)) {
		w.add(true, "the target was not observed often enough, so a change during the run cannot be ruled out (%s): %s", a, t.Unobserved[a])
	}
	for _, name := range members(t, func(m results.Member) bool { return m.Endpoint == "" && !shared }, results.Member.Label) {
		w.add(true, "no address of the target reaches its member %s, so this member got no load", name)
	}
}

// labels are the names of the members with these IDs, or the IDs.
func labels(t *results.Target, ids []string) (all []string) {
	for _, id := range ids {
		member := results.Member{ID: id}
		if i := slices.IndexFunc(t.Members, func(m results.Member) bool { return m.ID == id }); i >= 0 {
			member = t.Members[i]
		}
		all = append(all, member.Label())
	}
	return all
}

// ofResent warns of requests that were sent more than once.
func (w *warnings) ofResent(resent uint64) {
	w.add(resent > 0, "client pods sent %s again, because the target had refused their token or closed their connection", text.Plural(resent, "request"))
}

// ofSessions warns of sessions whose connections were lost, and of a time-out that was not granted.
func (w *warnings) ofSessions(asked time.Duration, s results.Sessions) {
	w.add(s.Cuts > 0, "sessions of the load lost their connection %s; the longest pause was %s", text.Plural(s.Cuts, "time"), text.Duration(s.LongestCut))
	w.add(s.Timeout > 0 && s.Timeout != asked, "sessions of the load asked for a time-out of %s; the members granted %s", text.Duration(asked), text.Duration(s.Timeout))
}

// ofQueue warns of earlier runs that may have deleted their keys in the window.
func (w *warnings) ofQueue(a *v1alpha1.Admission) {
	if a != nil && a.Undeleted > 0 {
		w.add(true, "when this run left the queue, earlier runs at its addresses may still have had keys (%d of "+
			"them): their cleanup Jobs had not ended within spec.schedulingTimeoutSeconds. If those Jobs deleted "+
			"keys in the measured window, they made this run slower", a.Undeleted)
	}
}

// ofPods warns of pods without an exact timer or without room for their results.
func (w *warnings) ofPods(s *results.Snapshot) {
	w.add(s.CoarsePacing, "client pods had no exact kernel timer: requests were sent up to 1 ms late; lateness and latency include that")
	w.add(len(s.Omitted) > 0, "these parts of the result are missing, because they did not fit into the "+
		"termination messages of client pods: %s", strings.Join(slices.Sorted(slices.Values(s.Omitted)), ", "))
}

// ofWatchers warns of events that are missing in the latencies.
func (w *warnings) ofWatchers(seen results.Watch) {
	w.add(seen.Missed > 0, "watchers missed %s of %s expected events", text.Grouped(seen.Missed), text.Grouped(seen.Expected))
	w.add(seen.Cancelled > 0, "etcd cancelled watchers %s times, and client pods opened them again; events that "+
		"etcd had compacted by then did not arrive and count as missed", text.Grouped(seen.Cancelled))
	w.add(seen.Resumed > 0, "watchers were resumed %s times because their stream had broken: events were delayed by that", text.Grouped(seen.Resumed))
	w.add(seen.CompactedAfter > 0, "the history that watchers read was compacted: they stopped reading %v after "+
		"the start of the window; turn the target's auto-compaction off, or set it so that it keeps history for "+
		"longer than the run takes",
		text.Duration(seen.CompactedAfter))
	w.add(seen.Duplicate > 0, "watchers received %s events twice", text.Grouped(seen.Duplicate))
}

// ofRequests are about one kind of request.
func (w *warnings) ofRequests(o results.OperationSummary) {
	w.add(o.Failed > 0 && !o.Operation.IsEvent(), "%s", failures(o))
	w.add(o.UncountedEvents > 0 && o.Operation == spec.OperationWatchEvent,
		"it is not known whether the failed or unanswered puts caused events: up to %s such events are missing "+
			"from the counts and the latencies", text.Grouped(o.UncountedEvents))
	w.add(o.Latency.Count > 0 && o.Latency.ErrorBoundPPM > results.BestErrorBound,
		"%s percentiles come from termination messages at a lower resolution: their error is at most %.2f%%",
		o.Operation, float64(o.Latency.ErrorBoundPPM)/1e4)
}

// failures counts the failed requests and names the most frequent error.
func failures(o results.OperationSummary) string {
	codes := slices.Sorted(maps.Keys(o.Errors))
	slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(o.Errors[b], o.Errors[a]) })
	total := o.Succeeded + o.Failed + o.Censored
	message := fmt.Sprintf("%s of %s %s requests failed (%.3g%%)", text.Grouped(o.Failed), text.Grouped(total), o.Operation, 100*float64(o.Failed)/float64(total))
	if len(codes) > 0 {
		message += ", most often with " + text.WithExample(codes[0], o.Examples[codes[0]])
	}
	if len(codes) > 0 && o.Operation.IsAgreed() && codes[0] == "ResourceExhausted" && !strings.Contains(o.Examples[codes[0]], "larger than max") {
		message += ": etcd refused writes because it had no space left or was overloaded; `etcdctl alarm list` shows whether NOSPACE is set, and only an administrator of the target can clear it"
	}
	if o.Censored > 0 {
		message += fmt.Sprintf("; %s more were unanswered at the end", text.Grouped(o.Censored))
	}
	return message
}

// ofDisturbances warns of requested disturbances that did not happen.
func (w *warnings) ofDisturbances(b *v1alpha1.EtcdBenchmark, s results.Summary) {
	for _, wanted := range b.Spec.Disturbances {
		switch d := s.Disturbances[wanted.Type]; {
		case d == nil || d.Count == 0:
			w.add(true, "client pod 0 reported no disturbance of type %s: the first was due %d s after the start of the measured window, which lasted %s",
				wanted.Type, wanted.EverySeconds, text.Duration(s.Length))
		case d.LeftOut > 0:
			w.add(true, "%s of type %s left out, because the previous one still ran: the longest took %s, everySeconds is %d",
				text.Plural(d.LeftOut, "disturbance"), wanted.Type, text.Duration(d.Longest), wanted.EverySeconds)
		}
	}
}
