package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits above which a summary warns.
const (
	// maxTailShare is the longest tail of a run bound by requests, as a share
	// of its length: beyond it the throughput says more about the slowest pod
	// than about the target.
	maxTailShare = 0.10
	// maxSkewShare is the greatest start skew, as a share of the length: for
	// so long not all pods were sending.
	maxSkewShare = 0.05
)

// timing is what follows from the windows of all pods.
type timing struct {
	requestBound bool
	// end of the last window, or the last response while it is open.
	end    time.Time
	length time.Duration
	// startSkew is the distance between the first and the last start.
	startSkew time.Duration
	// steady and tail are for runs bound by requests only: the rate while all
	// pods had work, and the time after that.
	steady float64
	tail   time.Duration
}

func newTiming(snapshots []*Snapshot) timing {
	var t timing
	var started []*Snapshot
	for _, s := range snapshots {
		if s == nil {
			continue
		}
		t.requestBound = t.requestBound || s.Window.PlannedRequests > 0
		if !s.Window.Start.IsZero() && s.Window.end().After(s.Window.Start) {
			started = append(started, s)
		}
	}
	t.startSkew = startSkew(snapshots)
	if len(started) > 0 {
		t.measure(started)
	}
	return t
}

// end of the window, or the last response while it is open. The window of a
// run bound by requests ends with the last response in any case.
func (w Window) end() time.Time {
	if w.End.IsZero() || w.PlannedRequests > 0 {
		return w.LastResponse
	}
	return w.End
}

// measure computes what needs windows that have begun.
func (t *timing) measure(started []*Snapshot) {
	first := started[0].Window
	start, lastStart, firstEnd := first.Start, first.Start, first.end()
	var longest time.Duration
	for _, s := range started {
		w := s.Window
		own := w.end().Sub(w.Start)
		longest = max(longest, own)
		start, lastStart = earlier(start, w.Start), later(lastStart, w.Start)
		firstEnd, t.end = earlier(firstEnd, w.end()), later(t.end, w.end())
	}
	t.length = longest
	if t.requestBound {
		t.length, t.tail = t.end.Sub(start), t.end.Sub(firstEnd)
		t.steady = steady(started, lastStart, firstEnd)
	}
}

// steady is the rate between two times, 0 if the first is not before the second.
func steady(started []*Snapshot, from, to time.Time) float64 {
	length := to.Sub(from)
	if length <= 0 {
		return 0
	}
	var succeeded float64
	for _, s := range started {
		succeeded += s.succeededBefore(to) - s.succeededBefore(from)
	}
	return succeeded / length.Seconds()
}

// succeededBefore is how many successes came before at. Without a timeline they
// are taken to have come evenly.
func (s *Snapshot) succeededBefore(at time.Time) float64 {
	all, offset, own := float64(s.succeeded()), at.Sub(s.Window.Start), s.Window.end().Sub(s.Window.Start)
	switch {
	case offset <= 0:
		return 0
	case offset >= own:
		return all
	case s.Timeline.Interval > 0:
		return s.Timeline.succeededBefore(offset)
	}
	return all * offset.Seconds() / own.Seconds()
}

func (s *Snapshot) succeeded() (n uint64) {
	for operation, r := range s.Operations {
		if !operation.IsEvent() && !operation.IsPart() {
			n += r.Latency.Count()
		}
	}
	return n
}

func startSkew(snapshots []*Snapshot) time.Duration {
	var first, last time.Time
	for _, s := range snapshots {
		if s != nil && !s.Window.Start.IsZero() {
			at := s.Window.StartAt.Add(s.Window.Skew)
			first, last = earlier(first, at), later(last, at)
		}
	}
	return last.Sub(first)
}

// warnings say what makes the numbers weaker than they look.
func warnings(s *Summary, merged *Snapshot) []string {
	var all []string
	warn := func(condition bool, format string, args ...any) {
		if condition {
			all = append(all, Printable(fmt.Sprintf(format, args...)))
		}
	}
	warn(merged.Transport == "" && s.Pods > 0 && merged.RunUID != "",
		"client pods used different transports: their latencies should not be merged")
	warn(s.Length > 0 && float64(s.Tail) > maxTailShare*float64(s.Length),
		"the last pod ended %v after the first, %.0f%% of the run: throughput is that of the slowest pod, see the steady throughput",
		s.Tail.Round(time.Microsecond), percent(s.Tail, s.Length))
	warn(s.Length > 0 && float64(s.StartSkew) > maxSkewShare*float64(s.Length),
		"the last pod started %v after the first, %.0f%% of the run: for that time not all pods sent",
		s.StartSkew.Round(time.Microsecond), percent(s.StartSkew, s.Length))
	warn(len(versions(merged.Target)) > 1, "the members are of different versions: %s", strings.Join(versions(merged.Target), ", "))
	if names := withoutQuota(merged.Target); len(names) > 0 {
		warn(true, "%s told no quota (etcd does from 3.6 on, if it has one): whether the %s MB that the run was expected to write fit in was not looked at",
			strings.Join(names, ", "), Grouped(merged.Target.WriteEstimateBytes/1_000_000))
	}
	for _, c := range merged.changes() {
		warn(true, "the target changed under the run, at %s (%s: %s): the numbers are of more than one state of it", c.At.UTC().Format(time.RFC3339), c.Aspect, c.Detail)
	}
	warn(elections(merged.Target) > 0 && len(merged.changes()) == 0, "the leader changed in the measured window (%d times, as a member saw it): the numbers are of more than one state of the target",
		elections(merged.Target))
	for _, rule := range sortedKeys(merged.Unwatched) {
		warn(true, "the rule %s of guard.stopOn was not watched all the time: %s", rule, merged.Unwatched[rule])
	}
	merged.Target.warnings(warn)
	for _, m := range unaddressed(merged.Target) {
		warn(true, "the target has a member %s that none of its addresses reaches: it got no load", m)
	}
	warn(merged.CoarsePacing, "the kernel gave client pods no timer with absolute deadlines, and Go's are up to a millisecond late: so late requests were sent, as lateness and latency show")
	warn(len(merged.Omitted) > 0, "termination messages had no room for: %s", strings.Join(slices.Sorted(slices.Values(merged.Omitted)), ", "))
	merged.Watch.warnings(warn)
	for _, o := range s.Operations {
		warn(o.Failed > 0 && !o.Operation.IsEvent(), "%s", failures(o))
		warn(o.Latency.Count > 0 && o.Latency.ErrorBoundPPM > errorBoundPPM(MaxSchema),
			"%s percentiles come from termination messages at a lower resolution: they are right to %.2f%%",
			o.Operation, float64(o.Latency.ErrorBoundPPM)/1e4)
	}
	return all
}

// failures says how many requests failed, and of what most did.
func failures(o OperationSummary) string {
	codes := sortedKeys(o.Errors)
	slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(o.Errors[b], o.Errors[a]) })
	total := o.Succeeded + o.Failed + o.Censored
	text := fmt.Sprintf("%s of %s %s requests failed (%.3g%%)", Grouped(o.Failed), Grouped(total), o.Operation, 100*float64(o.Failed)/float64(total))
	if len(codes) == 0 {
		return text
	}
	text += ", most with " + codes[0]
	if codes[0] == "ResourceExhausted" {
		text += ": etcd has refused writes, for want of space or because it was overloaded; `etcdctl alarm list` says whether NOSPACE is set, which only an operator of the target can clear"
	}
	return text
}

// versions are those of the members, each once.
func versions(t *Target) (all []string) {
	if t == nil {
		return nil
	}
	for _, m := range t.Members {
		if m.Version != "" && !slices.Contains(all, m.Version) {
			all = append(all, m.Version)
		}
	}
	slices.Sort(all)
	return all
}

// elections are the most changes of the leader that a member saw.
func elections(t *Target) (most int64) {
	if t == nil {
		return 0
	}
	for _, m := range t.Members {
		seen, _ := m.Window.Value(FigureLeaderChanges)
		most = max(most, int64(min(seen, maxCount)))
	}
	return most
}

// withoutQuota names the members of which it is not known whether what the run
// was expected to write fits in.
func withoutQuota(t *Target) (names []string) {
	if t == nil || t.WriteEstimateBytes == 0 {
		return nil
	}
	for _, m := range t.Members {
		if m.QuotaBytes == 0 && m.Endpoint != "" {
			names = append(names, cmp.Or(m.Name, m.ID))
		}
	}
	return names
}

// unaddressed names the members that no address reaches.
func unaddressed(t *Target) (names []string) {
	if t == nil {
		return nil
	}
	for _, m := range t.Members {
		if m.Endpoint == "" {
			names = append(names, cmp.Or(m.Name, m.ID))
		}
	}
	return names
}

// percent that part is of whole.
func percent(part, whole time.Duration) float64 {
	return 100 * float64(part) / float64(whole)
}
