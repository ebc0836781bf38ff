package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// members prints the figures of the members' own metrics for the window.
func (t *table) members() {
	all := t.b.Status.Summary.Members
	if len(all) == 0 {
		return
	}
	durations, sizes, work := grid{left: 1}, grid{left: 1}, grid{left: 1}
	durations.add("MEMBER", "WAL FSYNC", "P99", "BACKEND COMMIT", "P99", "PEER RTT", "APPLY", "CPU", "PING", "MAX PING")
	sizes.add("MEMBER", "RSS AT START", "MEAN RSS", "MAX RSS", "DB AT END", "DB QUOTA", "DB GROWTH")
	work.add("MEMBER", "LEADER CHANGES", "SLOW APPLIES", "FAILED PROPOSALS", "MOST PENDING", "CLIENT IN", "CLIENT OUT", "PEER IN", "PEER OUT")
	known := false
	for _, m := range all {
		if m.Unknown == "" {
			known = true
			durations.add(durationCells(m)...)
			sizes.add(sizeCells(m, t.b.Status.Target)...)
			work.add(workCells(m)...)
		}
	}
	if known {
		for _, g := range []grid{durations, sizes, work} {
			if g = g.known(); len(g.rows[0]) > 1 {
				t.section(g)
			}
		}
		if store, _ := t.b.Spec.Target.Datastore.Store(); store.CutTimes {
			t.gap()
			t.sentence("", fmt.Sprintf("%s cuts the times that it measures to whole milliseconds. A mean below %s is not shown.", store.Name, text.Duration(results.LeastCutMean)))
		}
	}
	t.processes(all)
	t.kubelets(all)
	t.logs(all)
	t.unknownMembers(all)
}

// processes prints what samplers of the members' processes have measured. Pods have a network of their own.
func (t *table) processes(all []v1alpha1.MemberSummary) {
	sampled := slices.ContainsFunc(all, func(m v1alpha1.MemberSummary) bool {
		return m.CPUHighestMillicores != nil || m.StorageWrittenBytes != nil
	})
	pods := slices.ContainsFunc(all, func(m v1alpha1.MemberSummary) bool { return m.PodReceivedBytes != nil })
	if !sampled {
		return
	}
	g, columns := grid{left: 1}, []string{"MEMBER", "MAX CPU", "STORAGE READ", "STORAGE WRITTEN", "POD IN", "POD OUT"}
	shown := len(columns)
	if !pods {
		shown -= 2
	}
	g.add(columns[:shown]...)
	for _, m := range all {
		if m.Unknown == "" {
			g.add(processCells(m)[:shown]...)
		}
	}
	t.section(g)
}

// kubelets prints what kubelets have measured of the members' pods, and why figures are absent. It is a table of its own: a
// kubelet counts other things than a member or a sampler.
func (t *table) kubelets(all []v1alpha1.MemberSummary) {
	g, absent, members := grid{left: 1}, map[string][]string{}, 0
	g.add("MEMBER (KUBELET)", "CPU", "RSS", "WORKING SET", "POD IN/S", "POD OUT/S", "READ/S", "WRITTEN/S")
	for _, m := range all {
		k := m.Kubelet
		if k == nil {
			continue
		}
		if members++; k.Unknown != "" {
			absent[k.Unknown] = append(absent[k.Unknown], shownName(m))
		}
		if k.CPUMillicores != nil {
			g.add(shownName(m), cpuText(k.CPUMillicores, nil), sized(k.RSSBytes), sized(k.WorkingSetBytes), perSecond(k.ReceivedBytesPerSecond),
				perSecond(k.SentBytesPerSecond), perSecond(k.ReadBytesPerSecond), perSecond(k.WrittenBytesPerSecond))
		}
	}
	if len(g.rows) > 1 {
		t.section(g.known())
	}
	for _, why := range slices.Sorted(maps.Keys(absent)) {
		t.gap()
		of := ""
		if len(absent[why]) < members {
			of = " for " + strings.Join(absent[why], ", ")
		}
		t.sentence("kubelet: ", "absent"+of+": "+why)
	}
}

func perSecond(n *int64) string {
	if n == nil {
		return unknown
	}
	return text.Bytes(float64(*n))
}

func (t *table) unknownMembers(all []v1alpha1.MemberSummary) {
	for _, m := range all {
		if m.Unknown != "" {
			t.gap()
			t.sentence("member "+shownName(m)+": ", "no figures: "+m.Unknown)
		}
	}
}

func (t *table) evidence() {
	all := t.b.Status.Summary.Evidence
	if len(all) == 0 {
		return
	}
	t.heading("WHERE THE TIME WENT")
	for _, e := range all {
		t.sentence("  "+string(e.Resource)+": ", e.Message)
	}
}

func durationCells(m v1alpha1.MemberSummary) []string {
	return []string{
		shownName(m), meanText(m.WALFsync), p99Text(m.WALFsync), meanText(m.BackendCommit), p99Text(m.BackendCommit),
		meanText(m.PeerRoundTrip), meanText(m.Apply), cpuText(m.CPUMillicores, m.Processors), pingText(m.Ping, func(p v1alpha1.MemberPing) int64 { return p.P50Microseconds }),
		pingText(m.Ping, func(p v1alpha1.MemberPing) int64 { return p.MaxMicroseconds }),
	}
}

func pingText(p *v1alpha1.MemberPing, of func(v1alpha1.MemberPing) int64) string {
	if p == nil {
		return unknown
	}
	return text.Micros(of(*p))
}

// sizeCells has the mean memory and the quota from the target, which knows them before the window ends.
func sizeCells(m v1alpha1.MemberSummary, target *v1alpha1.TargetStatus) []string {
	var own v1alpha1.MemberStatus
	if target != nil {
		if i := slices.IndexFunc(target.Members, func(t v1alpha1.MemberStatus) bool { return t.ID == m.ID }); i >= 0 {
			own = target.Members[i]
		}
	}
	return []string{
		shownName(m), sized(m.MemoryStartBytes), sized(own.ResidentMemoryBytes), sized(m.MemoryBytes),
		sized(m.DatabaseBytes), sized(own.QuotaBytes), sized(m.DatabaseGrowthBytes),
	}
}

func workCells(m v1alpha1.MemberSummary) []string {
	return []string{
		shownName(m), counted(m.LeaderChanges), counted(m.SlowApplies), counted(m.FailedProposals), counted(m.PendingProposals),
		sized(m.ClientReceivedBytes), sized(m.ClientSentBytes), sized(m.PeerReceivedBytes), sized(m.PeerSentBytes),
	}
}

// processCells end with those of the pod.
func processCells(m v1alpha1.MemberSummary) []string {
	return []string{
		shownName(m), cpuText(m.CPUHighestMillicores, m.Processors), sized(m.StorageReadBytes), sized(m.StorageWrittenBytes), sized(m.PodReceivedBytes), sized(m.PodSentBytes),
	}
}

func shownName(m v1alpha1.MemberSummary) string {
	if m.Name != "" {
		return m.Name
	}
	return m.ID
}

func meanText(d *v1alpha1.MemberDuration) string {
	switch {
	case d == nil:
		return unknown
	case d.Count == 0:
		return none
	}
	return text.Duration(time.Duration(d.MeanNanoseconds))
}

// p99Text is the interval of the bucket that holds the percentile: etcd's histograms have no finer resolution.
func p99Text(d *v1alpha1.MemberDuration) string {
	switch {
	case d == nil || d.Count > 0 && d.P99AboveMicroseconds == nil:
		return unknown
	case d.Count == 0:
		return none
	case d.P99AtMostMicroseconds == nil:
		return ">" + text.Micros(*d.P99AboveMicroseconds)
	case *d.P99AboveMicroseconds == 0:
		return "≤" + text.Micros(*d.P99AtMostMicroseconds)
	}
	return text.Micros(*d.P99AboveMicroseconds) + "–" + text.Micros(*d.P99AtMostMicroseconds)
}

func cpuText(millicores, processors *int64) string {
	if millicores == nil {
		return unknown
	}
	used := strconv.FormatFloat(float64(*millicores)/1000, 'f', 2, 64)
	if processors != nil {
		used += " of " + text.Grouped(*processors)
	}
	return used
}

func counted(n *int64) string {
	if n == nil {
		return unknown
	}
	return text.Grouped(*n)
}

func sized(n *int64) string {
	if n == nil {
		return unknown
	}
	return text.Megabytes(*n)
}
