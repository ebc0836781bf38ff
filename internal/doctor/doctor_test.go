package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// well is a member without a fault: of each timer, 100 observations, all below its limit.
func well(i int) Member {
	window := func() *results.MemberWindow {
		w := &results.MemberWindow{Figures: map[results.Figure]float64{
			results.FigureSampledSeconds: 30, results.FigureLeaderChanges: 0, results.FigureFailedProposals: 0, results.FigureSlowApplies: 0,
			results.FigureCPUSeconds: 3, results.FigureProcessors: 2,
		}}
		for _, timer := range []results.Timer{results.TimerWALFsync, results.TimerBackendCommit, results.TimerPeerRoundTrip} {
			timed(w, timer, 100, 0.004, 0.008)
		}
		return w
	}
	return Member{
		Name: fmt.Sprint("m", i), Version: "3.7.3", HadLeader: true, HasLeader: true, IsLeader: i == 0, AppliedBefore: 100_000, Applied: 100_000, Uptime: time.Hour, Started: window(), Recent: window(),
		Gauges: map[Gauge]float64{DatabaseBytes: 1e9, InUseBytes: 9e8, QuotaBytes: 2e9, Keys: 50_000, Revision: 1_000_000, CompactRevision: 900_001},
	}
}

// restricted is a member whose status may not be read; its metrics know the leader.
func restricted(m Member) Member {
	m.Restricted, m.AppliedBefore, m.Applied = "refused", 0, 0
	return m
}

func leaderless(m *Member) { m.HadLeader, m.HasLeader = false, false }

func corrupt(member string) []Alarm { return []Alarm{{"CORRUPT", member}} }

// timed gives a window the observations of a timer, whose 99th percentile lies in a bucket.
func timed(w *results.MemberWindow, t results.Timer, count, above, atMost float64) {
	w.Figures[t.Count()], w.Figures[t.Seconds()] = count, count*above
	w.Figures[t.P99Above()], w.Figures[t.P99AtMost()] = above, atMost
}

// Each fault is found at the members that have it, on the right side of its limit only.
func TestDiagnose(t *testing.T) {
	type found map[string][]string
	flush := func(m *Member, above, atMost float64) { timed(m.Recent, results.TimerWALFsync, 100, above, atMost) }
	for name, tc := range map[string]struct {
		edit      func(all []Member)
		findings  found
		undecided found
	}{
		"nothing":               {func([]Member) {}, found{}, found{}},
		"one slow flush":        {func(m []Member) { flush(&m[1], 0.016, 0.032) }, found{"SlowFlush": {"m1"}}, found{}},
		"a flush in the limit":  {func(m []Member) { flush(&m[1], 0.008, 0.016) }, found{}, found{"SlowFlush": {"m1"}}},
		"a slow flush long ago": {func(m []Member) { timed(m[0].Started, results.TimerWALFsync, 100, 1, 2) }, found{}, found{}},
		"few flushes now, slow ones": {func(m []Member) {
			timed(m[0].Recent, results.TimerWALFsync, 29, 1, 2)
			timed(m[0].Started, results.TimerWALFsync, 100, 1, 2)
		}, found{"SlowFlush": {"m0"}}, found{}},
		"few flushes ever": {func(m []Member) {
			timed(m[0].Recent, results.TimerWALFsync, 1, 1, 2)
			timed(m[0].Started, results.TimerWALFsync, 29, 1, 2)
		}, found{}, found{"SlowFlush": {"m0"}}},
		"a bucket without an end":   {func(m []Member) { flush(&m[0], 8, 0) }, found{"SlowFlush": {"m0"}}, found{}},
		"slow peers":                {func(m []Member) { timed(m[2].Recent, results.TimerPeerRoundTrip, 30, 0.2048, 0.4096) }, found{"SlowPeer": {"m2"}}, found{}},
		"no answer":                 {func(m []Member) { m[2].Problem = "refused" }, found{"Unreachable": {"m2"}}, found{}},
		"few peers now, slow ones":  {func(m []Member) { timed(m[2].Recent, results.TimerPeerRoundTrip, 4, 0.2048, 0.4096) }, found{}, found{"SlowPeer": {"m2"}}},
		"few peers now, none slow":  {func(m []Member) { timed(m[2].Recent, results.TimerPeerRoundTrip, 4, 0.004, 0.008) }, found{}, found{}},
		"no credentials":            {func(m []Member) { m[2].Problem, m[2].Refused = "expired", true }, found{"Refused": {"m2"}}, found{}},
		"no leader":                 {func(m []Member) { leaderless(&m[0]); leaderless(&m[1]); leaderless(&m[2]) }, found{"NoLeader": nil}, found{}},
		"one knows no leader":       {func(m []Member) { leaderless(&m[2]) }, found{"NoLeader": {"m2"}}, found{}},
		"an election at the end":    {func(m []Member) { m[2].HasLeader = false }, found{}, found{"NoLeader": {"m2"}}},
		"an alarm that all report":  {func(m []Member) { m[0].Alarms, m[1].Alarms = corrupt("m2"), corrupt("m2") }, found{"Alarm": {"m2"}}, found{}},
		"an alarm about none":       {func(m []Member) { m[0].Alarms = corrupt("") }, found{"Alarm": nil}, found{}},
		"two alarms":                {func(m []Member) { m[0].Alarms = append(corrupt("m2"), Alarm{"NOSPACE", "m1"}) }, found{"Alarm": {"m2", "m1"}}, found{}},
		"a restart":                 {func(m []Member) { m[1].Recent = &results.MemberWindow{Unknown: results.UnknownRestarted} }, found{"Restarted": {"m1"}}, found{"BusyProcessor": {"m1"}, "LeaderChanges": {"m1"}, "FailedProposals": {"m1"}, "SlowApplies": {"m1"}}},
		"the quota":                 {func(m []Member) { m[0].Gauges[DatabaseBytes], m[0].Gauges[InUseBytes] = 1.9e9, 1.9e9 }, found{"QuotaNear": {"m0"}}, found{}},
		"below it":                  {func(m []Member) { m[0].Gauges[DatabaseBytes], m[0].Gauges[InUseBytes] = 1.899e9, 1.899e9 }, found{}, found{}},
		"elections":                 {func(m []Member) { m[0].Recent.Figures[results.FigureLeaderChanges] = 4 }, found{"LeaderChanges": {"m0"}}, found{}},
		"one election":              {func(m []Member) { m[0].Recent.Figures[results.FigureLeaderChanges] = 1 }, found{}, found{"LeaderChanges": {"m0"}}},
		"uncounted elections":       {func(m []Member) { delete(m[0].Recent.Figures, results.FigureLeaderChanges) }, found{}, found{"LeaderChanges": {"m0"}}},
		"elections of a day":        {func(m []Member) { m[0].Started.Figures[results.FigureLeaderChanges], m[0].Uptime = 95, 24*time.Hour }, found{}, found{}},
		"failed proposals":          {func(m []Member) { m[0].Recent.Figures[results.FigureFailedProposals] = 6 }, found{"FailedProposals": {"m0"}}, found{}},
		"slow applies":              {func(m []Member) { m[0].Recent.Figures[results.FigureSlowApplies] = 3 }, found{"SlowApplies": {"m0"}}, found{}},
		"a busy processor":          {func(m []Member) { m[0].Recent.Figures[results.FigureCPUSeconds] = 51 }, found{"BusyProcessor": {"m0"}}, found{}},
		"one that is behind":        {func(m []Member) { m[1].Applied -= 5_001 }, found{"Behind": {"m1"}}, found{}},
		"one that is asked earlier": {func(m []Member) { m[0].Applied, m[2].Applied = 200_000, 200_000 }, found{}, found{}},
		"free pages":                {func(m []Member) { m[1].Gauges[InUseBytes] = 4.9e8 }, found{"Fragmented": {"m1"}}, found{}},
		"few bytes in use":          {func(m []Member) { m[1].Gauges[InUseBytes] = 1e8 }, found{}, found{}},
		"history":                   {func(m []Member) { m[1].Gauges[CompactRevision] = 0 }, found{"CompactionMissing": {"m1"}}, found{}},
		"history of many keys":      {func(m []Member) { m[1].Gauges[CompactRevision], m[1].Gauges[Keys] = 0, 100_000 }, found{}, found{}},
		"history of a compacted":    {func(m []Member) { m[1].Gauges[CompactRevision] = 10 }, found{}, found{"CompactionMissing": {"m1"}}},
		"a large database": {func(m []Member) {
			m[1].Gauges[DatabaseBytes], m[1].Gauges[InUseBytes], m[1].Gauges[QuotaBytes] = 9e9, 9e9, 16e9
		}, found{"LargeDatabase": {"m1"}}, found{}},
		"versions":                  {func(m []Member) { m[1].Version = "3.6.16" }, found{"MixedVersions": nil}, found{}},
		"no right to read a status": {func(m []Member) { m[1].Restricted, m[1].Applied = "refused", 0 }, found{}, found{"Alarm": {"m1"}, "Behind": {"m1"}}},
		"no rights and no leader": {func(m []Member) { m[0], m[1], m[2] = restricted(m[0]), restricted(m[1]), restricted(m[2]) }, found{}, found{
			"Alarm": {"m0", "m1", "m2"}, "Behind": {"m0", "m1", "m2"}}},
		"unknown processors": {func(m []Member) { delete(m[1].Recent.Figures, results.FigureProcessors) }, found{}, found{}},
		"unknown processors, much in use": {func(m []Member) {
			delete(m[1].Recent.Figures, results.FigureProcessors)
			m[1].Recent.Figures[results.FigureCPUSeconds] = 26
		}, found{}, found{"BusyProcessor": {"m1"}}},
		"no metrics": {func(m []Member) { m[1].Unread, m[1].Recent, m[1].Started, m[1].Gauges = "forbidden", nil, nil, nil }, found{},
			found{"Restarted": {"m1"}, "QuotaNear": {"m1"}, "LargeDatabase": {"m1"}, "SlowFlush": {"m1"}, "SlowPeer": {"m1"}, "SlowCommit": {"m1"}, "BusyProcessor": {"m1"}, "LeaderChanges": {"m1"}, "FailedProposals": {"m1"}, "SlowApplies": {"m1"}, "Fragmented": {"m1"}, "CompactionMissing": {"m1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := Cluster{Length: 30 * time.Second, Members: []Member{well(0), well(1), well(2)}}
			tc.edit(c.Members)
			d := Diagnose(c)
			findings, undecided := found{}, found{}
			for _, f := range d.Findings {
				findings[f.Kind] = append(findings[f.Kind], f.Members...)
				if f.Message == "" || f.Limit == "" || f.Source == "" || f.Do == "" {
					t.Errorf("found %+v, wanted all of its parts", f)
				}
			}
			for _, u := range d.Undecided {
				undecided[u.Kind] = append(undecided[u.Kind], u.Member)
			}
			if diff := cmp.Diff(tc.findings, findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.undecided, undecided); diff != "" {
				t.Errorf("undecided (-want +got):\n%s", diff)
			}
		})
	}
}

// Members that were not looked at leave the diagnosis undecided.
func TestMembersThatNoAddressLeadsTo(t *testing.T) {
	for name, c := range map[string]Cluster{"known": {Unlisted: []string{"m1"}}, "not known": {ListUnread: "refused"}} {
		c.Members = []Member{well(0)}
		if d := Diagnose(c); len(d.Findings) > 0 || len(d.Undecided) != 1 || d.Undecided[0].Kind != "Unreachable" {
			t.Errorf("%s: got %+v, wanted that Unreachable is undecided", name, d)
		}
	}
}

// What stops etcd comes before its causes, and a cause before what follows from it.
func TestTheMostImportantIsFirst(t *testing.T) {
	c := Cluster{Length: 30 * time.Second, Members: []Member{well(0), well(1), well(2)}}
	c.Members[0].Recent.Figures[results.FigureLeaderChanges] = 4
	timed(c.Members[0].Recent, results.TimerWALFsync, 100, 0.064, 0.128)
	c.Members[2].Problem = "refused"
	c.Members[1].Version = "3.6.16"
	var kinds []string
	for _, f := range Diagnose(c).Findings {
		kinds = append(kinds, f.Kind)
	}
	if diff := cmp.Diff([]string{"Unreachable", "SlowFlush", "LeaderChanges", "MixedVersions"}, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A reader of one check needs no finding: each says what it means, its limit and what to do.
func TestEachCheckExplainsItself(t *testing.T) {
	for _, c := range Checks() {
		if !strings.HasSuffix(c.Means, ".") || c.Limit == "" || c.Source == "" || !strings.HasSuffix(c.Do, ".") {
			t.Errorf("%s is not explained: %+v", c.Kind, c)
		}
	}
}
