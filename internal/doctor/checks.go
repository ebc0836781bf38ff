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
			out = append(out, Undecided{Member: m.Name, Why: m.Restricted, Needs: "its status"})
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

// What to do if no member knows a leader, and if only some know none.
const (
	noneHasLeader  = "Start the members that are down: a majority must run and reach each other."
	someHaveLeader = "Look at the network between its peer address and those of the others, and at its log."
)

func noLeader(c Cluster) (found []Finding, undecided []Undecided) {
	var without []string
	all := slices.DeleteFunc(c.answering(), func(m Member) bool { return m.Restricted != "" && m.Unread != "" })
	for _, m := range all {
		switch {
		case m.HasLeader:
		case m.HadLeader:
			undecided = append(undecided, Undecided{Member: m.Name, Why: "it knew a leader at first, and none at the end", Needs: "another look"})
		default:
			without = append(without, m.Name)
		}
	}
	switch {
	case len(without) == 0:
	case len(without) == len(all):
		found = append(found, Finding{Message: text.Plural(len(all), "member") + " answered, and none knows a leader: etcd serves no writes and no linearizable reads.",
			Do: noneHasLeader})
	default:
		found = append(found, Finding{Members: without, Message: c.which(without) + ", no leader is known: its clients can neither write nor read linearizably. The others have one.",
			Do: someHaveLeader})
	}
	return found, undecided
}

// What to do about alarms.
const (
	noSpaceAdvice = "Compact, defragment each member, or raise --quota-backend-bytes; then etcdctl alarm disarm. Until then, etcd refuses writes."
	corruptAdvice = "Stop the member, remove it, and add it again with an empty data folder. Its data differs from that of the others."
)

var alarmAdvice = map[string]string{"NOSPACE": noSpaceAdvice, "CORRUPT": corruptAdvice}

// alarms names the members that alarms are about: each member reports all of them.
func alarms(c Cluster) (found []Finding, _ []Undecided) {
	names := map[string][]string{}
	for _, m := range c.answering() {
		for _, a := range m.Alarms {
			if !slices.Contains(names[a.Kind], a.Member) {
				names[a.Kind] = append(names[a.Kind], a.Member)
			}
		}
	}
	for _, alarm := range slices.Sorted(maps.Keys(names)) {
		f := Finding{Members: names[alarm], Message: fmt.Sprintf("The alarm %s is raised for %s.", alarm, strings.Join(names[alarm], ", ")), Do: alarmAdvice[alarm]}
		if slices.Contains(f.Members, "") {
			f.Members, f.Message = nil, "The alarm "+alarm+" is raised, and for no member in particular."
			if alarm == "CORRUPT" {
				f.Do = "Remove no member yet: no majority has the same data. Compare etcdctl endpoint hashkv of all, and restore a snapshot that you trust."
			}
		}
		found = append(found, f)
	}
	return found, c.restricted()
}

// unreachable leaves undecided what was not looked at.
func unreachable(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.Members {
		if m.Problem != "" && !m.Refused {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s does not answer: %s.", m.Name, strings.TrimSuffix(m.Problem, "."))})
		}
	}
	for _, name := range c.Unlisted {
		undecided = append(undecided, Undecided{Member: name, Why: "no address leads to it", Needs: "its address"})
	}
	if c.ListUnread != "" {
		undecided = append(undecided, Undecided{Member: "the others", Why: "the list of members could not be read: " + c.ListUnread, Needs: "the list, or the addresses of all members"})
	}
	return found, undecided
}

func refused(c Cluster) (found []Finding, _ []Undecided) {
	for _, m := range c.Members {
		if m.Refused {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s answers, and does not let this client in: %s.", m.Name, strings.TrimSuffix(m.Problem, "."))})
		}
	}
	return found, nil
}

func restarted(c Cluster) (found []Finding, _ []Undecided) {
	for _, m := range c.measured() {
		if m.Recent != nil && strings.HasPrefix(m.Recent.Unknown, results.UnknownRestarted) {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s restarted between the two looks, %s ago.", m.Name, text.Duration(m.Uptime.Round(time.Second)))})
		}
	}
	return found, c.unread()
}

// lacks is an undecided check of a member without a value.
func (m Member) lacks(what, needs string) Undecided {
	switch {
	case m.Unread != "":
		return Undecided{Member: m.Name, Why: m.Unread, Needs: "its metrics"}
	case m.Recent != nil && m.Recent.Unknown != "":
		return Undecided{Member: m.Name, Why: m.Recent.Unknown, Needs: "another look"}
	}
	return Undecided{Member: m.Name, Why: "it does not report " + what, Needs: needs}
}

func quotaNear(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.answering() {
		size, known := m.Gauges[DatabaseBytes]
		quota, limited := m.Gauges[QuotaBytes]
		switch {
		case !known || !limited:
			undecided = append(undecided, m.lacks("its size and its quota", "etcd_mvcc_db_total_size_in_bytes and etcd_server_quota_backend_bytes"))
		case quota > 0 && size >= quotaShare*quota:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("The database of %s has %s, %.0f %% of its quota of %s.",
				m.Name, text.Megabytes(int64(size)), 100*size/quota, text.Megabytes(int64(quota)))})
		}
	}
	return found, undecided
}

// observations is how many a timer needs for a 99th percentile.
const observations = 30

// deciding is the window with enough observations: the recent one, or else all the time since the start.
func (m Member) deciding(t results.Timer) (timing results.Timing, window string) {
	timing, known := m.Recent.Timing(t)
	if known && timing.Count >= observations {
		length, _ := m.Recent.Value(results.FigureSampledSeconds)
		return timing, "in the last " + text.Duration(results.Seconds(length).Round(time.Second))
	}
	window = "since the start of its process " + text.Duration(m.Uptime.Round(time.Second)) + " ago"
	if known && timing.Count == 0 {
		window += ", and none between the looks"
	}
	timing, _ = m.Started.Timing(t)
	return timing, window
}

// few are recent observations of a timer that are too few for a percentile; none if there are enough. isSlow reports whether one of
// them may have been slower than a limit.
func (m Member) few(t results.Timer, limit time.Duration) (few results.Timing, isSlow bool) {
	few, known := m.Recent.Timing(t)
	if !known || few.Count >= observations {
		return results.Timing{}, false
	}
	return few, few.Count > 0 && (few.P99AtMost == 0 || few.P99AtMost > limit)
}

// slow looks for a timer whose 99th percentile is above a limit. Members report only the bucket of a percentile.
func slow(t results.Timer, limit time.Duration, what string, advice func(one bool) string) func(Cluster) ([]Finding, []Undecided) {
	return func(c Cluster) (found []Finding, undecided []Undecided) {
		var names, numbers []string
		for _, m := range c.measured() {
			if t == results.TimerPeerRoundTrip && len(c.Members)+len(c.Unlisted) < 2 {
				// It has no peers.
				continue
			}
			timing, window := m.deciding(t)
			few, isSlow := m.few(t, limit)
			switch {
			case timing.Count < observations:
				undecided = append(undecided, Undecided{Member: m.Name, Why: fmt.Sprintf("%s observed since its start", text.Plural(timing.Count, "time")), Needs: fmt.Sprintf("%d observations", observations)})
			case (timing.P99Above >= limit || timing.Mean >= limit) && few.Count > 0 && !isSlow:
				undecided = append(undecided, Undecided{Member: m.Name, Why: fmt.Sprintf("p99 is %s %s, and the last %d kept the limit", bucket(timing), window, few.Count), Needs: fmt.Sprintf("%d observations: a longer window", observations)})
			case timing.P99Above >= limit || timing.Mean >= limit:
				names = append(names, m.Name)
				number := fmt.Sprintf("%s: p99 %s, mean %s, %s times %s", m.Name, bucket(timing), text.Duration(timing.Mean), text.Grouped(timing.Count), window)
				if t == results.TimerPeerRoundTrip && m.Slowest.Name != "" {
					number += fmt.Sprintf(", the slowest to %s with a mean of %s", m.Slowest.Name, text.Duration(m.Slowest.RoundTrip))
				}
				numbers = append(numbers, number)
			case timing.P99AtMost == 0 || timing.P99AtMost > limit:
				undecided = append(undecided, Undecided{Member: m.Name, Why: fmt.Sprintf("p99 is %s, and the limit lies within", bucket(timing)), Needs: "a histogram with a bound at " + text.Duration(limit) + ", for example of kubectl etcdbench bench"})
			case isSlow:
				undecided = append(undecided, Undecided{Member: m.Name, Why: fmt.Sprintf("the slowest of the last %d took %s, and those since its start keep the limit", few.Count, bucket(few)), Needs: fmt.Sprintf("%d observations: a longer window", observations)})
			}
		}
		undecided = append(undecided, c.unread()...)
		if len(names) > 0 {
			where, one := c.which(names), len(names) < len(c.answering())
			if len(undecided) > 0 {
				// The others may have it, too.
				where, one = "At "+strings.Join(names, ", "), false
			}
			found = append(found, Finding{Members: names, Message: fmt.Sprintf("%s, %s takes long. %s.", where, what, strings.Join(numbers, "; ")), Do: advice(one)})
		}
		return found, undecided
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

// byMembers is the advice for both cases: one of several members has the fault, and all have it.
func byMembers(advice func(one bool) string) string {
	return "At one of several members: " + advice(true) + " At all members: " + advice(false)
}

func peerAdvice(bool) string {
	return "Look at the network between the members, and at their CPU. Place them nearer to each other, or raise --heartbeat-interval and --election-timeout."
}

// busy needs the number of processors only of members that use most of one.
func busy(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.measured() {
		used, known := m.Recent.CPU()
		of, limited := m.Recent.Value(results.FigureProcessors)
		switch {
		case known && used < busyShare:
		case !known || !limited:
			undecided = append(undecided, m.lacks("how many processors it uses, and of how many", "process_cpu_seconds_total and go_sched_gomaxprocs_threads (etcd 3.6)"))
		case used >= busyShare*of:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s uses %.1f of its %.0f processors.", m.Name, used, of)})
		}
	}
	return found, append(undecided, c.unread()...)
}

// behind compares a member with where the others were one window ago: two members are not asked at the same moment.
func behind(c Cluster) (found []Finding, _ []Undecided) {
	furthest := uint64(0)
	for _, m := range c.answering() {
		furthest = max(furthest, m.AppliedBefore)
	}
	for _, m := range c.answering() {
		if m.Applied > 0 && m.Applied+entriesBehind < furthest {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s is %s entries behind where the others were %s ago.", m.Name, text.Grouped(furthest-m.Applied), text.Duration(c.Length))})
		}
	}
	return found, c.restricted()
}

func fragmented(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.answering() {
		size, known := m.Gauges[DatabaseBytes]
		used, counted := m.Gauges[InUseBytes]
		switch {
		case !known || !counted:
			undecided = append(undecided, m.lacks("the size of its database", "etcd_mvcc_db_total_size_in_use_in_bytes"))
		case used > fragmentedBytes && used < inUseShare*size:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("The database of %s has %s, of which %s (%.0f %%) are in use.",
				m.Name, text.Megabytes(int64(size)), text.Megabytes(int64(used)), 100*used/size)})
		}
	}
	return found, undecided
}

// uncompacted finds members that were never compacted. Whether others are compacted often enough shows only in hours.
func uncompacted(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.measured() {
		now, known := m.Gauges[Revision]
		compacted, counted := m.Gauges[CompactRevision]
		history := now - compacted
		switch {
		case !known || !counted:
			undecided = append(undecided, m.lacks("its revisions", "etcd 3.5 or later"))
		case history <= historyRevisions || history <= historyPerKey*m.Gauges[Keys]:
		case compacted > 0:
			undecided = append(undecided, Undecided{Member: m.Name, Why: fmt.Sprintf("it keeps %s, and was compacted up to revision %s", text.Plural(int64(history), "revision"), text.Grouped(int64(compacted))),
				Needs: "whether the compacted revision rises"})
		default:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s was never compacted, and keeps %s for %s.", m.Name, text.Plural(int64(history), "revision"), text.Plural(int64(m.Gauges[Keys]), "key"))})
		}
	}
	return found, append(undecided, c.unread()...)
}

func large(c Cluster) (found []Finding, undecided []Undecided) {
	for _, m := range c.answering() {
		size, known := m.Gauges[DatabaseBytes]
		switch {
		case !known:
			undecided = append(undecided, m.lacks("the size of its database", "its status or its metrics"))
		case size > largeBytes:
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("The database of %s has %s.", m.Name, text.Megabytes(int64(size)))})
		}
	}
	return found, undecided
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
