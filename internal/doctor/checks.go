package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// answering are the members that answered.
func (c Cluster) answering() []Member {
	return slices.DeleteFunc(slices.Clone(c.Members), func(m Member) bool { return m.Problem != "" })
}

// measured are those with metrics.
func (c Cluster) measured() []Member {
	return slices.DeleteFunc(c.answering(), func(m Member) bool { return m.Unread != "" })
}

// unread are checks that members without metrics leave undecided.
func (c Cluster) unread() (out []Undecided) {
	for _, m := range c.answering() {
		if m.Unread != "" {
			out = append(out, Undecided{Member: m.Name, Why: m.Unread, Needs: "its metrics"})
		}
	}
	return out
}

// restricted are checks that need the status of members whose status may not be read.
func (c Cluster) restricted() (out []Undecided) {
	for _, m := range c.answering() {
		if m.Restricted != "" {
			out = append(out, Undecided{Member: m.Name, Why: m.Restricted, Needs: "a user with the role root"})
		}
	}
	return out
}

// which says which of the members a finding is about: one of several, or all.
func (c Cluster) which(names []string) string {
	switch n := len(c.answering()); {
	case n == 1:
		return "At " + names[0]
	case len(names) == n:
		return fmt.Sprintf("At all %d members", n)
	}
	return "Only at " + strings.Join(names, ", ")
}

func noLeader(c Cluster) (found []Finding, _ []Undecided) {
	all := slices.DeleteFunc(c.answering(), func(m Member) bool { return m.Restricted != "" && m.Unread != "" })
	if len(all) > 0 && !slices.ContainsFunc(all, func(m Member) bool { return m.HasLeader }) {
		found = append(found, Finding{Message: text.Plural(len(all), "member") + " answered, and none knows a leader: etcd serves no writes and no linearizable reads."})
	}
	return found, nil
}

// alarmAdvice is what to do about an alarm.
var alarmAdvice = map[string]string{
	"NOSPACE": "Compact, defragment each member, or raise --quota-backend-bytes; then etcdctl alarm disarm. Until then, etcd refuses writes.",
	"CORRUPT": "Stop the member, remove it, and add it again with an empty data folder. Its data differs from that of the others.",
}

func alarms(c Cluster) (found []Finding, _ []Undecided) {
	names := map[string][]string{}
	for _, m := range c.answering() {
		if m.Alarm != "" {
			names[m.Alarm] = append(names[m.Alarm], m.Name)
		}
	}
	for _, alarm := range slices.Sorted(maps.Keys(names)) {
		found = append(found, Finding{Members: names[alarm], Message: "The alarm " + alarm + " is raised.", Do: alarmAdvice[alarm]})
	}
	return found, c.restricted()
}

func unreachable(c Cluster) (found []Finding, _ []Undecided) {
	for _, m := range c.Members {
		if m.Problem != "" {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s does not answer: %s.", m.Name, strings.TrimSuffix(m.Problem, "."))})
		}
	}
	return found, nil
}

func quotaNear(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.measured() {
		size, known := m.Gauges[DatabaseBytes]
		quota, limited := m.Gauges[QuotaBytes]
		switch {
		case !known || !limited:
			undecided = append(undecided, Undecided{Member: m.Name, Why: "its size and its quota are not known", Needs: "etcd_mvcc_db_total_size_in_bytes and etcd_server_quota_backend_bytes"})
		case quota > 0 && size >= quotaShare*quota:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("The database of %s has %s, %.0f %% of its quota of %s.",
				m.Name, text.Megabytes(int64(size)), 100*size/quota, text.Megabytes(int64(quota)))})
		}
	}
	return found, append(undecided, c.unread()...)
}

// observations is how many a timer needs for a 99th percentile.
const observations = 30

// deciding is the window with enough observations: the recent one, or else all the time since the start.
func (m Member) deciding(t results.Timer) (timing results.Timing, window string, known bool) {
	if timing, known = m.Recent.Timing(t); known && timing.Count >= observations {
		length, _ := m.Recent.Value(results.FigureSampledSeconds)
		return timing, "in the last " + text.Duration(results.Seconds(length).Round(time.Second)), true
	}
	if timing, known = m.Started.Timing(t); known {
		return timing, "since the start of its process " + text.Duration(m.Uptime.Round(time.Second)) + " ago", true
	}
	return timing, "", false
}

// slow looks for a timer whose 99th percentile is above a limit. Members report only the bucket of a percentile.
func slow(t results.Timer, limit time.Duration, what string, advice func(one bool) string) func(Cluster) ([]Finding, []Undecided) {
	return func(c Cluster) (found []Finding, undecided []Undecided) {
		var names, numbers []string
		for _, m := range c.measured() {
			timing, window, known := m.deciding(t)
			switch {
			case t == results.TimerPeerRoundTrip && len(c.Members)+len(c.Unlisted) < 2:
				// It has no peers.
			case !known || timing.Count < observations:
				undecided = append(undecided, Undecided{Member: m.Name, Why: fmt.Sprintf("%s observed since its start", text.Plural(timing.Count, "time")), Needs: fmt.Sprintf("%d observations", observations)})
			case timing.P99Above >= limit || timing.Mean >= limit:
				names = append(names, m.Name)
				numbers = append(numbers, fmt.Sprintf("%s: p99 %s, mean %s, %s times %s", m.Name, bucket(timing), text.Duration(timing.Mean), text.Grouped(timing.Count), window))
			case timing.P99AtMost == 0 || timing.P99AtMost > limit:
				undecided = append(undecided, Undecided{Member: m.Name, Why: fmt.Sprintf("p99 is %s, and the limit lies within", bucket(timing)), Needs: "a histogram with a bound at " + text.Duration(limit) + ", for example of kubectl etcdbench bench"})
			}
		}
		if len(names) > 0 {
			found = append(found, Finding{Members: names, Message: fmt.Sprintf("%s, %s takes long. %s.", c.which(names), what, strings.Join(numbers, "; ")),
				Do: advice(len(names) < len(c.answering()))})
		}
		return found, append(undecided, c.unread()...)
	}
}

// bucket is the part of a histogram that has the 99th percentile.
func bucket(t results.Timing) string {
	if t.P99AtMost == 0 {
		return "above " + text.Duration(t.P99Above)
	}
	return text.Duration(t.P99Above) + " to " + text.Duration(t.P99AtMost)
}

func flushAdvice(one bool) string {
	if one {
		return "Compare the disk of this member with the others, and look for what else writes to it. Move the data folder to a faster disk, or replace the member."
	}
	return "Give etcd faster disks that nothing else writes to, for example local SSDs. Look for noisy neighbours and for a storage quota (IOPS)."
}

func peerAdvice(bool) string {
	return "Look at the network between the members, and at their CPU. Place them nearer to each other, or raise --heartbeat-interval and --election-timeout."
}

func busy(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.measured() {
		used, known := m.Recent.CPU()
		of, limited := m.Recent.Value(results.FigureProcessors)
		switch {
		case !known || !limited:
			undecided = append(undecided, Undecided{Member: m.Name, Why: "it does not report how many processors it uses, and of how many", Needs: "process_cpu_seconds_total and go_sched_gomaxprocs_threads"})
		case used >= busyShare*of:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s uses %.1f of its %.0f processors.", m.Name, used, of)})
		}
	}
	return found, append(undecided, c.unread()...)
}

// often looks for a counter that rises by more than a number in 15 minutes, in one of the windows.
func often(c Cluster, f results.Figure, most float64, what string) (found []Finding, _ []Undecided) {
	for _, m := range c.measured() {
		for _, w := range []struct {
			window *results.MemberWindow
			length time.Duration
			words  string
		}{{m.Recent, c.Length, "in the last " + text.Duration(c.Length)}, {m.Started, max(m.Uptime, quarter), "since its start " + text.Duration(m.Uptime.Round(time.Second)) + " ago"}} {
			n, known := w.window.Value(f)
			if known && n*float64(quarter)/float64(w.length) > most {
				found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s counts %s %s.", m.Name, text.Plural(int64(n), what), w.words)})
				break
			}
		}
	}
	return found, c.unread()
}

func manyElections(c Cluster) ([]Finding, []Undecided) {
	return often(c, results.FigureLeaderChanges, leaderChanges-1, "leader change")
}

func manyFailures(c Cluster) ([]Finding, []Undecided) {
	return often(c, results.FigureFailedProposals, failedProposals, "failed proposal")
}

func applies(c Cluster) (found []Finding, _ []Undecided) {
	for _, m := range c.measured() {
		if n, known := m.Recent.Value(results.FigureSlowApplies); known && n >= slowApplies {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s applied %s slowly in the last %s.", m.Name, text.Plural(int64(n), "request"), text.Duration(c.Length))})
		}
	}
	return found, c.unread()
}

func behind(c Cluster) (found []Finding, _ []Undecided) {
	furthest := uint64(0)
	for _, m := range c.answering() {
		furthest = max(furthest, m.Applied)
	}
	for _, m := range c.answering() {
		if m.Applied > 0 && furthest-m.Applied > entriesBehind {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s is %s entries behind the others.", m.Name, text.Grouped(furthest-m.Applied))})
		}
	}
	return found, c.restricted()
}

func fragmented(c Cluster) (found []Finding, _ []Undecided) {
	for _, m := range c.measured() {
		size, used := m.Gauges[DatabaseBytes], m.Gauges[InUseBytes]
		if used > 0 && size > fragmentedBytes && used < inUseShare*size {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("The database of %s has %s, of which %s (%.0f %%) are in use.",
				m.Name, text.Megabytes(int64(size)), text.Megabytes(int64(used)), 100*used/size)})
		}
	}
	return found, c.unread()
}

func uncompacted(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.measured() {
		now, known := m.Gauges[Revision]
		compacted, counted := m.Gauges[CompactRevision]
		history := now - max(compacted, 0)
		switch {
		case !known || !counted:
			undecided = append(undecided, Undecided{Member: m.Name, Why: "it does not report its revisions", Needs: "etcd 3.5 or later"})
		case history > historyRevisions && history > historyPerKey*m.Gauges[Keys]:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s keeps the history of %s for %s.", m.Name, text.Plural(int64(history), "revision"), text.Plural(int64(m.Gauges[Keys]), "key"))})
		}
	}
	return found, append(undecided, c.unread()...)
}

func large(c Cluster) (found []Finding, _ []Undecided) {
	for _, m := range c.measured() {
		if size := m.Gauges[DatabaseBytes]; size > largeBytes {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("The database of %s has %s.", m.Name, text.Megabytes(int64(size)))})
		}
	}
	return found, nil
}

func mixed(c Cluster) (found []Finding, _ []Undecided) {
	versions := map[string]bool{}
	for _, m := range c.answering() {
		if m.Version != "" {
			versions[m.Version] = true
		}
	}
	if len(versions) > 1 {
		found = append(found, Finding{Message: "The members run etcd " + strings.Join(slices.Sorted(maps.Keys(versions)), " and ") + "."})
	}
	return found, nil
}
