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

// warner takes note of a warning, if its condition holds.
type warner func(condition bool, format string, args ...any)

// warnings say what makes the numbers weaker than they look, a subject after the
// other.
func warnings(s *Summary, merged *Snapshot) (all []string) {
	warn := func(condition bool, format string, args ...any) {
		if condition {
			all = append(all, Printable(fmt.Sprintf(format, args...)))
		}
	}
	warn(merged.Transport == "" && s.Pods > 0 && merged.RunUID != "",
		"client pods used different transports: their latencies should not be merged")
	s.timingWarnings(warn)
	merged.Target.versionWarnings(warn)
	merged.changeWarnings(warn)
	merged.guardWarnings(warn)
	merged.Target.warnings(warn)
	merged.Target.addressWarnings(warn)
	merged.podWarnings(warn)
	merged.Watch.warnings(warn)
	for _, o := range s.Operations {
		o.warnings(warn)
	}
	return all
}

// timingWarnings are about the time in which not all pods sent.
func (s *Summary) timingWarnings(warn warner) {
	warn(s.Length > 0 && float64(s.Tail) > maxTailShare*float64(s.Length),
		"the last pod ended %v after the first, %.0f%% of the run: throughput is that of the slowest pod, see the steady throughput",
		s.Tail.Round(time.Microsecond), percent(s.Tail, s.Length))
	warn(s.Length > 0 && float64(s.StartSkew) > maxSkewShare*float64(s.Length),
		"the last pod started %v after the first, %.0f%% of the run: for that time not all pods sent",
		s.StartSkew.Round(time.Microsecond), percent(s.StartSkew, s.Length))
}

// versionWarnings are about members of several versions, and about old ones.
func (t *Target) versionWarnings(warn warner) {
	warn(len(versions(t)) > 1, "the members are of different versions: %s", strings.Join(versions(t), ", "))
	if names := withoutQuota(t); len(names) > 0 {
		warn(true, "%s told no quota (etcd does from 3.6 on, if it has one): whether the %s MB that the run was expected to write fit in was not looked at",
			strings.Join(names, ", "), Grouped(t.WriteEstimateBytes/1_000_000))
	}
}

// changeWarnings are about a target that was not the same all the time.
func (s *Snapshot) changeWarnings(warn warner) {
	for _, c := range s.changes() {
		warn(true, "the target changed under the run, at %s (%s: %s): the numbers are of more than one state of it", c.At.UTC().Format(time.RFC3339), c.Aspect, c.Detail)
	}
	warn(elections(s.Target) > 0 && len(s.changes()) == 0, "the leader changed in the measured window (%d times, as a member saw it): the numbers are of more than one state of the target",
		elections(s.Target))
}

// guardWarnings are about rules that might have ended the run.
func (s *Snapshot) guardWarnings(warn warner) {
	for _, rule := range sortedKeys(s.Unwatched) {
		warn(true, "the rule %s of guard.stopOn was not watched all the time: %s", rule, s.Unwatched[rule])
	}
}

// addressWarnings are about members that got no load.
func (t *Target) addressWarnings(warn warner) {
	for _, m := range unaddressed(t) {
		warn(true, "the target has a member %s that none of its addresses reaches: it got no load", m)
	}
}

// podWarnings are about what client pods had not: a good clock, or room to report.
func (s *Snapshot) podWarnings(warn warner) {
	warn(s.CoarsePacing, "the kernel gave client pods no timer with absolute deadlines, and Go's are up to a millisecond late: so late requests were sent, as lateness and latency show")
	warn(len(s.Omitted) > 0, "termination messages had no room for: %s", strings.Join(slices.Sorted(slices.Values(s.Omitted)), ", "))
}

// warnings are about one kind of request.
func (o *OperationSummary) warnings(warn warner) {
	warn(o.Failed > 0 && !o.Operation.IsEvent(), "%s", failures(*o))
	warn(o.Unheard > 0 && o.Operation == OperationWatchEvent, "Up to %s events are in no number: the puts that they would follow from failed or got no answer", Grouped(o.Unheard))
	warn(o.Latency.Count > 0 && o.Latency.ErrorBoundPPM > errorBoundPPM(MaxSchema),
		"%s percentiles come from termination messages at a lower resolution: they are right to %.2f%%",
		o.Operation, float64(o.Latency.ErrorBoundPPM)/1e4)
}

// failures says how many requests failed, and of what most did.
func failures(o OperationSummary) string {
	codes := sortedKeys(o.Errors)
	slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(o.Errors[b], o.Errors[a]) })
	total := o.Succeeded + o.Failed + o.Censored
	text := fmt.Sprintf("%s of %s %s requests failed (%.3g%%)", Grouped(o.Failed), Grouped(total), o.Operation, 100*float64(o.Failed)/float64(total))
	if o.Censored > 0 {
		text += fmt.Sprintf(", and %s got no answer until the end", Grouped(o.Censored))
	}
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
