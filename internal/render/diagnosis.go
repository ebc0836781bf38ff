package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Diagnosis shows what is wrong with an etcd: the findings, what could not be decided, and what was read.
func Diagnosis(c doctor.Cluster, d doctor.Diagnosis) string {
	p := &page{}
	p.begin(PartHeader)
	switch n := len(d.Findings); {
	case n > 0:
		p.line("%s. The most important: %s", text.Plural(n, "finding"), d.Findings[0].Kind)
	case len(d.Undecided) > 0:
		p.line("Nothing found, and %s not decided.", text.Plural(len(d.Undecided), "check"))
	default:
		p.line("Nothing found.")
	}
	for i, f := range d.Findings {
		p.gap()
		p.sentence(fmt.Sprintf("%d. ", i+1), f.Kind+": "+f.Message)
		p.sentence("   limit   ", f.Limit+"  ("+f.Source+")")
		p.sentence("   do      ", f.Do)
	}
	if len(d.Undecided) > 0 {
		p.gap()
		p.line("Not decided:")
		for _, u := range alike(d.Undecided) {
			p.sentence("- ", fmt.Sprintf("%s of %s: %s. To decide: %s.", u.Kind, u.Member, strings.TrimSuffix(u.Why, "."), u.Needs))
		}
	}
	if !slices.ContainsFunc(c.Members, func(m doctor.Member) bool { return m.Problem == "" }) {
		return p.text.String()
	}
	for _, g := range membersRead(c) {
		p.section(g)
	}
	if served := requestsServed(c); len(served.rows) > 1 {
		p.section(served)
		p.sentence("  ", "The messages of the recent window: requests and responses, or those of a stream. etcd counts their sizes only over all RPCs.")
	}
	p.sentence("  ", fmt.Sprintf("P99 in the last %s / since the start of the process, as bounds of a bucket. Memory, keys, watchers, leases and ping have no limit.", text.Duration(c.Length)))
	if len(c.Unlisted) > 0 {
		p.sentence("  ", "Not looked at: "+strings.Join(c.Unlisted, ", ")+".")
	}
	p.sentence("  ", "Looked for: "+strings.Join(d.Looked, ", ")+". The disk and the sizes of single requests cannot be seen from here.")
	p.notLookedFor(d.NotLookedFor)
	return p.text.String()
}

// alike joins the checks that the same reason leaves undecided: the kinds of one member, then the members of one kind.
func alike(all []doctor.Undecided) []doctor.Undecided {
	join := func(all []doctor.Undecided, part func(*doctor.Undecided) *string) (out []doctor.Undecided) {
		for _, u := range all {
			added := *part(&u)
			*part(&u) = ""
			at := slices.IndexFunc(out, func(o doctor.Undecided) bool {
				*part(&o) = ""
				return o == u
			})
			if at >= 0 {
				*part(&out[at]) += ", " + added
				continue
			}
			*part(&u) = added
			out = append(out, u)
		}
		return out
	}
	all = join(all, func(u *doctor.Undecided) *string { return &u.Kind })
	return join(all, func(u *doctor.Undecided) *string { return &u.Member })
}

// membersRead has a row per member: how it works, and what it stores.
func membersRead(c doctor.Cluster) []grid {
	work, stored := grid{left: 3}, grid{left: 1}
	work.add("MEMBER", "VERSION", "ROLE", "UP", "FLUSH P99", "COMMIT P99", "PEER P99", "CPU", "MEMORY", "PING")
	stored.add("MEMBER", "DATABASE", "IN USE", "QUOTA", "KEYS", "WATCHERS", "LEASES")
	for _, m := range c.Members {
		if m.Problem != "" {
			work.add(m.Name, "no answer")
			continue
		}
		role := "follower"
		switch {
		case m.IsLeader:
			role = "leader"
		case m.Restricted != "" && m.Unread != "":
			role = unknown
		case !m.HasLeader:
			role = "no leader"
		}
		up := unknown
		if m.Uptime > 0 {
			up = text.Duration(m.Uptime.Round(time.Second))
		}
		bytes := func(name doctor.Gauge) string {
			if v, known := m.Gauges[name]; known {
				return text.Megabytes(int64(v))
			}
			return unknown
		}
		count := func(name doctor.Gauge, less ...doctor.Gauge) string {
			v, known := m.Gauges[name]
			for _, l := range less {
				v -= m.Gauges[l]
			}
			if !known {
				return unknown
			}
			return text.Grouped(int64(v))
		}
		cpu, memory := unknown, unknown
		if used, known := m.Recent.CPU(); known {
			cpu = fmt.Sprintf("%.2f", used)
		}
		if v, known := m.Recent.Value(results.FigureMemoryBytes); known {
			memory = text.Megabytes(int64(v))
		}
		ping := unknown
		if m.Ping > 0 {
			ping = text.Duration(m.Ping)
		}
		work.add(m.Name, m.Version, role, up,
			percentiles(m, results.TimerWALFsync), percentiles(m, results.TimerBackendCommit), percentiles(m, results.TimerPeerRoundTrip), cpu, memory, ping)
		stored.add(m.Name, bytes(doctor.DatabaseBytes), bytes(doctor.InUseBytes), bytes(doctor.QuotaBytes),
			count(doctor.Keys), count(doctor.Watchers), count(doctor.LeasesGranted, doctor.LeasesRevoked, doctor.LeasesExpired))
	}
	return []grid{work, stored}
}

// percentiles are the bounds of the bucket with the 99th percentile: recent, and since the start.
func percentiles(m doctor.Member, t results.Timer) string {
	of := func(w *results.MemberWindow) string {
		timing, known := w.Timing(t)
		if !known || timing.Count == 0 {
			return thin
		}
		return bound(timing)
	}
	return of(m.Recent) + " / " + of(m.Started)
}

// bound is that of the bucket with the 99th percentile.
func bound(t results.Timing) string {
	if t.P99AtMost == 0 {
		return ">" + text.Duration(t.P99Above)
	}
	return "≤" + text.Duration(t.P99AtMost)
}
