package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Limits above which a run has a warning.
const (
	// maxTailShare is the longest tail of a run bound by requests, as a share
	// of its length: beyond it the throughput says more about the slowest pod
	// than about the target.
	maxTailShare = 0.10
	// maxSkewShare is the greatest start skew, as a share of the length: for
	// so long not all pods were sending.
	maxSkewShare = 0.05
)

// warnings are what makes numbers weaker than they look.
type warnings []string

// add takes note of a warning, if its condition holds.
func (w *warnings) add(condition bool, format string, args ...any) {
	if condition {
		*w = append(*w, text.Printable(fmt.Sprintf(format, args...)))
	}
}

// Warnings say what makes the numbers of b weaker than they look, a subject after
// the other.
func Warnings(b *v1alpha1.EtcdBenchmark, s results.Summary) []string {
	var w warnings
	w.ofTiming(s)
	w.ofTarget(s.Merged.Target)
	w.ofSight(s.Merged)
	w.ofPods(s.Merged)
	w.ofWatchers(s.Watch)
	for _, o := range s.Operations {
		w.ofRequests(o)
	}
	w.ofDisturbances(b, s)
	return w[:min(len(w), v1alpha1.MaxWarnings)]
}

// AppendWarning adds a warning to those of a summary. It takes the place of the
// last one if there is room for no more.
func AppendWarning(all []string, warning string) []string {
	return append(all[:min(len(all), v1alpha1.MaxWarnings-1)], text.Shorten(warning, v1alpha1.MaxWarningLength))
}

// ofTiming are about pods that cannot be added up, or did not send all the time.
func (w *warnings) ofTiming(s results.Summary) {
	w.add(s.Transport == "" && s.Pods > 0 && s.RunUID != "",
		"client pods used different transports: their latencies should not be merged")
	w.add(s.Length > 0 && float64(s.Tail) > maxTailShare*float64(s.Length),
		"the last pod ended %v after the first, %.0f%% of the run: throughput is that of the slowest pod, see the steady throughput",
		rounded(s.Tail), 100*s.Tail.Seconds()/s.Length.Seconds())
	w.add(s.Length > 0 && float64(s.StartSkew) > maxSkewShare*float64(s.Length),
		"the last pod started %v after the first, %.0f%% of the run: for that time not all pods sent",
		rounded(s.StartSkew), 100*s.StartSkew.Seconds()/s.Length.Seconds())
}

// ofTarget are about members of several versions, old ones, and a target that was
// not the same all the time.
func (w *warnings) ofTarget(t *results.Target) {
	if t == nil {
		return
	}
	versions := members(t, func(m results.Member) bool { return m.Version != "" }, func(m results.Member) string { return m.Version })
	slices.Sort(versions)
	versions = slices.Compact(versions)
	w.add(len(versions) > 1, "the members are of different versions: %s", strings.Join(versions, ", "))
	if t.WriteEstimateBytes > 0 {
		names := members(t, func(m results.Member) bool { return m.QuotaBytes == 0 && m.Endpoint != "" }, results.Member.Label)
		w.add(len(names) > 0, "%s told no quota (etcd does from 3.6 on, if it has one): whether the %s MB that the run was expected to write fit in was not looked at",
			strings.Join(names, ", "), text.Grouped(t.WriteEstimateBytes/1_000_000))
	}
	for _, c := range t.Changes {
		w.add(true, "the target changed under the run, at %s (%s: %s): the numbers are of more than one state of it", c.At.UTC().Format(time.RFC3339), c.Aspect, c.Detail)
	}
	elections := int64(0)
	for _, m := range t.Members {
		seen, _ := m.Window.Value(results.FigureLeaderChanges)
		elections = max(elections, text.Integer(seen))
	}
	w.add(elections > 0 && len(t.Changes) == 0, "the leader changed in the measured window (%d times, as a member saw it): the numbers are of more than one state of the target",
		elections)
}

// members says something of those members that are meant.
func members(t *results.Target, meant func(results.Member) bool, say func(results.Member) string) (all []string) {
	for _, m := range t.Members {
		if meant(m) {
			all = append(all, say(m))
		}
	}
	return all
}

// ofSight are about what was not seen of the target, and members that got no load.
func (w *warnings) ofSight(s *results.Snapshot) {
	for _, rule := range slices.Sorted(maps.Keys(s.Unwatched)) {
		w.add(true, "the rule %s of guard.stopOn was not watched all the time: %s", rule, s.Unwatched[rule])
	}
	t := s.Target
	if t == nil {
		return
	}
	w.add(t.Unlisted != "", "which members the target has is not known: %s", t.Unlisted)
	for _, a := range slices.Sorted(maps.Keys(t.Unseen)) {
		w.add(true, "whether the target changed under the run (%s) is not known: %s", a, t.Unseen[a])
	}
	for _, name := range members(t, func(m results.Member) bool { return m.Endpoint == "" }, results.Member.Label) {
		w.add(true, "the target has a member %s that none of its addresses reaches: it got no load", name)
	}
}

// ofPods are about what client pods had not: a good clock, or room to report.
func (w *warnings) ofPods(s *results.Snapshot) {
	w.add(s.CoarsePacing, "the kernel gave client pods no timer with absolute deadlines, and Go's are up to a millisecond late: so late requests were sent, as lateness and latency show")
	w.add(len(s.Omitted) > 0, "termination messages had no room for: %s", strings.Join(slices.Sorted(slices.Values(s.Omitted)), ", "))
}

// ofWatchers say which events are not in the latencies.
func (w *warnings) ofWatchers(seen results.Watch) {
	w.add(seen.Missed > 0, "watchers missed %s of %s events that etcd owed them", text.Grouped(seen.Missed), text.Grouped(seen.Expected))
	w.add(seen.Cancelled > 0, "etcd cancelled watchers %s times; they were opened anew, and lost no event by that but those that had been compacted, which are among the missed ones", text.Grouped(seen.Cancelled))
	w.add(seen.Resumed > 0, "watchers were resumed %s times because their stream had broken: events waited for that", text.Grouped(seen.Resumed))
	w.add(seen.CompactedAfter > 0, "the history that watchers read was compacted: since %v after the start of the window it is replayed no more; turn the target's auto-compaction off, or let it keep more than the run lasts",
		seen.CompactedAfter.Round(time.Millisecond))
	w.add(seen.Duplicate > 0, "watchers were given %s events twice", text.Grouped(seen.Duplicate))
}

// ofRequests are about one kind of request.
func (w *warnings) ofRequests(o results.OperationSummary) {
	w.add(o.Failed > 0 && !o.Operation.IsEvent(), "%s", failures(o))
	w.add(o.Unheard > 0 && o.Operation == spec.OperationWatchEvent, "Up to %s events are in no number: the puts that they would follow from failed or got no answer", text.Grouped(o.Unheard))
	w.add(o.Latency.Count > 0 && o.Latency.ErrorBoundPPM > results.BestErrorBound,
		"%s percentiles come from termination messages at a lower resolution: they are right to %.2f%%",
		o.Operation, float64(o.Latency.ErrorBoundPPM)/1e4)
}

// failures says how many requests failed, and of what most did.
func failures(o results.OperationSummary) string {
	codes := slices.Sorted(maps.Keys(o.Errors))
	slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(o.Errors[b], o.Errors[a]) })
	total := o.Succeeded + o.Failed + o.Censored
	message := fmt.Sprintf("%s of %s %s requests failed (%.3g%%)", text.Grouped(o.Failed), text.Grouped(total), o.Operation, 100*float64(o.Failed)/float64(total))
	if o.Censored > 0 {
		message += fmt.Sprintf(", and %s got no answer until the end", text.Grouped(o.Censored))
	}
	if len(codes) == 0 {
		return message
	}
	message += ", most with " + codes[0]
	if codes[0] == "ResourceExhausted" {
		message += ": etcd has refused writes, for want of space or because it was overloaded; `etcdctl alarm list` says whether NOSPACE is set, which only an operator of the target can clear"
	}
	return message
}

// ofDisturbances say which disturbances did not happen that b asks for.
func (w *warnings) ofDisturbances(b *v1alpha1.EtcdBenchmark, s results.Summary) {
	for _, wanted := range b.Spec.Disturbances {
		switch d := s.Disturbances[wanted.Type]; {
		case d == nil || d.Count == 0:
			w.add(true, "client pod 0 told of no disturbance of type %s: the first was due %d s after the start of the measured window, which lasted %s",
				wanted.Type, wanted.EverySeconds, text.Duration(s.Length))
		case d.LeftOut > 0:
			w.add(true, "of type %s, %s left out, because the one before still went on: one took up to %s, and everySeconds is %d",
				wanted.Type, text.Plural(d.LeftOut, "disturbance"), text.Duration(d.Longest), wanted.EverySeconds)
		}
	}
}
