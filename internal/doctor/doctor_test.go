package doctor

import (
	"fmt"
	"slices"
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

// handled is an RPC whose 99th percentile lies in a bucket, in milliseconds.
func handled(name string, count uint64, above, atMost time.Duration) Method {
	return Method{Name: name, Received: float64(count), Sent: float64(count),
		Handling: results.Timing{Count: count, Mean: above * time.Millisecond, P99Above: above * time.Millisecond, P99AtMost: atMost * time.Millisecond}}
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
		"few fast flushes now, slow ones before": {func(m []Member) {
			timed(m[0].Recent, results.TimerWALFsync, 5, 0.001, 0.002)
			timed(m[0].Started, results.TimerWALFsync, 100, 1, 2)
		}, found{}, found{"SlowFlush": {"m0"}}},
		"no flush now, slow ones before": {func(m []Member) {
			timed(m[0].Recent, results.TimerWALFsync, 0, 0, 0)
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
		"throttled":                 {func(m []Member) { m[1].Throttling = &Periods{All: 100, Throttled: 26} }, found{"Throttled": {"m1"}}, found{}},
		"throttled in the limit":    {func(m []Member) { m[1].Throttling = &Periods{All: 100, Throttled: 25} }, found{}, found{}},
		"without a quota":           {func(m []Member) { m[1].Throttling = &Periods{} }, found{}, found{}},
		"throttling that is unread": {func(m []Member) { m[1].ThrottlingUnread = &Missing{"forbidden", "a right"} }, found{}, found{}},
		"slow requests":             {func(m []Member) { m[2].Methods = []Method{handled("Range", 30, 250, 500)} }, found{"SlowRequests": {"m2"}}, found{}},
		"requests in the limit":     {func(m []Member) { m[2].Methods = []Method{handled("Range", 30, 50, 100), handled("Put", 30, 0, 5)} }, found{}, found{}},
		"requests about the limit":  {func(m []Member) { m[2].Methods = []Method{handled("Range", 30, 100, 250)} }, found{}, found{"SlowRequests": {"m2"}}},
		"few slow requests":         {func(m []Member) { m[2].Methods = []Method{handled("Range", 29, 250, 500)} }, found{}, found{"SlowRequests": {"m2"}}},
		"few fast requests":         {func(m []Member) { m[2].Methods = []Method{handled("Range", 1, 0, 5)} }, found{}, found{}},
		"a slow defragmentation":    {func(m []Member) { m[2].Methods = []Method{handled("Defragment", 30, 250, 500)} }, found{}, found{}},
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
	c.Members[0].Recent.Figures[results.FigureLeaderChanges], c.Members[1].Recent.Figures[results.FigureLeaderChanges] = 4, 4
	timed(c.Members[0].Recent, results.TimerWALFsync, 100, 0.064, 0.128)
	c.Members[0].Throttling = &Periods{All: 300, Throttled: 300}
	c.Members[2].Problem = "refused"
	c.Members[1].Version = "3.6.16"
	var kinds []string
	for _, f := range Diagnose(c).Findings {
		kinds = append(kinds, f.Kind)
	}
	if diff := cmp.Diff([]string{"Unreachable", "Throttled", "SlowFlush", "LeaderChanges", "MixedVersions"}, kinds); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What to do depends on whether the others are known to be fast, and on what else the member has.
func TestAdviceOfSlowFlushes(t *testing.T) {
	fewEver := func(m *Member) {
		timed(m.Recent, results.TimerWALFsync, 1, 0, 0.001)
		timed(m.Started, results.TimerWALFsync, 2, 0, 0.001)
	}
	for name, tc := range map[string]struct {
		edit func(all []Member)
		want string
	}{
		"the others are fast":      {func([]Member) {}, flushAdvice(true)},
		"the others are not known": {func(all []Member) { fewEver(&all[2]) }, flushAdvice(false)},
		"it is throttled":          {func(all []Member) { all[1].Throttling = &Periods{100, 50} }, "First see Throttled: without its processor, a member takes long also on a fast disk."},
		"another is throttled":     {func(all []Member) { all[2].Throttling = &Periods{100, 50} }, flushAdvice(true)},
	} {
		c := Cluster{Members: []Member{well(0), well(1), well(2)}}
		timed(c.Members[1].Recent, results.TimerWALFsync, 100, 1, 2)
		tc.edit(c.Members)
		found := Diagnose(c).Findings
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == "SlowFlush" }) {
			t.Errorf("%s: found only %+v", name, found)
		}
		for _, f := range found {
			if f.Kind == "SlowFlush" && (f.Do != tc.want || strings.HasPrefix(f.Message, "Only") == (tc.want == flushAdvice(false))) {
				t.Errorf("%s: found %+v, wanted %s", name, f, tc.want)
			}
		}
	}
}

// A check that takes a right, a place or a setting that most users lack is named, and leaves nothing undecided.
func TestWhatIsNotLookedFor(t *testing.T) {
	c := Cluster{Members: []Member{well(0), well(1), well(2), well(3)}}
	c.Members[0].ThrottlingUnread = &Missing{"forbidden", "a right"}
	c.Members[1].Methods = []Method{handled("Put", 1, 0, 5)}
	c.Members[2].Methods = []Method{{Name: "Put", Received: 1, Sent: 1}}
	c.Members[3].Problem, c.Members[3].ThrottlingUnread = "refused", &Missing{"forbidden", "a right"}
	got := map[string][]string{}
	for _, u := range Diagnose(c).NotLookedFor {
		got[u.Kind] = append(got[u.Kind], u.Member)
	}
	if diff := cmp.Diff(map[string][]string{"Throttled": {"m0"}, "SlowRequests": {"m0", "m2"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.Members = c.Members[:1]
	if looked := Diagnose(c).Looked; slices.Contains(looked, "Throttled") || slices.Contains(looked, "SlowRequests") || !slices.Contains(looked, "SlowFlush") {
		t.Errorf("looked for %v, wanted only what could be seen at a member", looked)
	}
}

// The group that was throttled most decides, and only one that was there at both looks.
func TestTheGroupThatIsThrottledMost(t *testing.T) {
	before := Groups{"pod": {1000, 900}, "container": {100, 0}, "reset": {100, 100}}
	now := Groups{"pod": {1100, 910}, "container": {200, 50}, "reset": {10, 10}, "new": {50, 50}}
	if got := now.Since(before); got != (Periods{100, 50}) {
		t.Errorf("got %+v", got)
	}
	if got := now.Since(now); got != (Periods{}) || !now.Counted() || (Groups{"idle": {}}).Counted() {
		t.Errorf("got %+v without new periods", got)
	}
}

// The mean sizes are those over all RPCs.
func TestMeanBytes(t *testing.T) {
	m := well(0)
	m.Recent.Figures[results.FigureClientReceivedBytes], m.Recent.Figures[results.FigureClientSentBytes] = 600, 4000
	m.Methods = []Method{{Name: "Range", Received: 2, Sent: 2}, {Name: "Watch", Received: 1, Sent: 6}}
	if received, sent := m.MeanBytes(); received != 200 || sent != 500 {
		t.Errorf("got %v and %v bytes, wanted 200 and 500", received, sent)
	}
	m.Methods = nil
	if received, sent := m.MeanBytes(); received != 0 || sent != 0 {
		t.Errorf("got %v and %v bytes of no message", received, sent)
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
