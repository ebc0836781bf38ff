package guard

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var begin = time.Unix(1_800_000_000, 0)

func after(seconds float64) time.Time {
	return begin.Add(time.Duration(seconds * float64(time.Second)))
}

var every = spec.StopRules{
	Alarm: true, LeaderChange: true,
	DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 100},
	ErrorRatio:   &spec.ErrorRatioRule{MaxPerMillion: 100_000, ForSeconds: 10},
	WALFsync:     &spec.WALFsyncRule{MaxMeanMicroseconds: 10_000, ForSeconds: 10},
}

func of(rules spec.StopRules) *Guard {
	return New(rules, func(id string) string { return "etcd-" + id })
}

func said(a, b members.State) members.View {
	return members.View{At: begin, Members: map[string]members.State{"a": a, "b": b}}
}

func TestSeesView(t *testing.T) {
	well := members.State{Leader: "a", Term: 2, DatabaseBytes: 100}
	tests := map[string]struct {
		rules spec.StopRules
		now   members.State
		want  *results.Fired
	}{
		"all is well":        {every, well, nil},
		"an alarm":           {every, members.State{Alarm: "NOSPACE", Leader: "a", Term: 2}, &results.Fired{Rule: spec.GuardAlarm, Subject: "etcd-b", Detail: "NOSPACE"}},
		"an alarm, unasked":  {spec.StopRules{}, members.State{Alarm: "NOSPACE"}, nil},
		"a database":         {every, members.State{DatabaseBytes: 101}, &results.Fired{Rule: spec.GuardDatabaseSize, Subject: "etcd-b", Got: 101, Limit: 100}},
		"any database":       {spec.StopRules{Alarm: true}, members.State{DatabaseBytes: 1 << 40}, nil},
		"another leader":     {every, members.State{Leader: "b", Term: 3}, &results.Fired{Rule: spec.GuardLeaderChange, Subject: "etcd-b", Detail: "an election won by etcd-b (previous leader: etcd-a)"}},
		"the same, again":    {every, members.State{Leader: "a", Term: 3}, &results.Fired{Rule: spec.GuardLeaderChange, Subject: "etcd-a", Detail: "an election won by etcd-a (previous leader: etcd-a)"}},
		"any leader":         {spec.StopRules{Alarm: true}, members.State{Leader: "b", Term: 3}, nil},
		"no leader, for now": {every, members.State{Term: 3}, nil},
		"an older election":  {every, members.State{Leader: "b", Term: 1}, nil},
		"no answer":          {every, members.State{Problem: "it does not answer"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := of(tc.rules)
			if fired := g.SeesView(said(well, well)); fired != nil {
				t.Fatalf("%+v fired on a healthy target", fired)
			}
			got := g.SeesView(said(well, tc.now))
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(results.Fired{}, "At")); diff != "" {
				t.Errorf("fired (-want +got):\n%s", diff)
			}
			if got != nil && !got.At.Equal(begin) {
				t.Errorf("it fired at %v, wanted the time of the view", got.At)
			}
		})
	}
}

// While the other members do not report, a member that lags behind reports an older election.
func TestAnOlderElectionIsNoChange(t *testing.T) {
	g, silent := of(every), members.State{Problem: "no answer"}
	now := members.State{Leader: "a", Term: 4}
	for _, v := range []members.View{said(now, now), said(silent, members.State{Leader: "b", Term: 3}), said(now, now)} {
		if fired := g.SeesView(v); fired != nil {
			t.Errorf("%+v fired", fired)
		}
	}
}

// Only the member itself can report its database; any member can report alarms and the leader.
func TestUnwatched(t *testing.T) {
	silent, unread, well := members.State{Problem: "no answer"}, members.State{Unread: "no right", Leader: "a", Term: 1}, members.State{Leader: "a", Term: 1}
	const silence = "etcd-b did not report its status: no answer"
	elections := spec.StopRules{Alarm: true, LeaderChange: true}
	tests := map[string]struct {
		rules spec.StopRules
		views []members.View
		want  map[spec.GuardRule]string
	}{
		"nothing":     {every, []members.View{said(well, well)}, map[spec.GuardRule]string{}},
		"one member":  {every, []members.View{said(well, silent)}, map[spec.GuardRule]string{spec.GuardDatabaseSize: silence}},
		"all members": {elections, []members.View{said(silent, silent)}, map[spec.GuardRule]string{spec.GuardAlarm: results.NeverWatched + silence, spec.GuardLeaderChange: results.NeverWatched + silence}},
		"at first":    {elections, []members.View{said(silent, silent), said(well, silent)}, map[spec.GuardRule]string{spec.GuardAlarm: silence, spec.GuardLeaderChange: silence}},
		"at last":     {elections, []members.View{said(well, well), said(silent, silent)}, map[spec.GuardRule]string{spec.GuardAlarm: silence, spec.GuardLeaderChange: silence}},
		"no right": {every, []members.View{said(unread, unread), said(unread, unread)}, map[spec.GuardRule]string{
			spec.GuardAlarm:        results.NeverWatched + "etcd-b did not report its status: no right",
			spec.GuardDatabaseSize: results.NeverWatched + "etcd-a did not report its status: no right",
		}},
		"no rule": {spec.StopRules{}, []members.View{said(silent, silent)}, map[spec.GuardRule]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := of(tc.rules)
			for _, v := range tc.views {
				g.SeesView(v)
			}
			if diff := cmp.Diff(tc.want, g.Unwatched()); diff != "" {
				t.Errorf("unwatched (-want +got):\n%s", diff)
			}
		})
	}
}

func flushed(at time.Time, count, seconds float64) members.Sample {
	return members.Sample{At: at, Timers: map[results.Timer]members.Histogram{results.TimerWALFsync: {Count: count, Seconds: seconds}}}
}

func TestSeesFlushes(t *testing.T) {
	tests := map[string]struct {
		samples   []members.Sample
		want      float64
		unwatched bool
	}{
		"fast":               {[]members.Sample{flushed(after(0), 0, 0), flushed(after(10), 1000, 10)}, 0, false},
		"slow":               {[]members.Sample{flushed(after(0), 0, 0), flushed(after(5), 500, 10), flushed(after(10), 1000, 20)}, 0.02, false},
		"not for long":       {[]members.Sample{flushed(after(0), 0, 0), flushed(after(9), 1000, 20)}, 0, false},
		"slow before":        {[]members.Sample{flushed(after(0), 0, 0), flushed(after(1), 100, 9), flushed(after(11), 1100, 10)}, 0, false},
		"none in that time":  {[]members.Sample{flushed(after(0), 5, 5), flushed(after(10), 5, 5)}, 0, false},
		"a restart between":  {[]members.Sample{flushed(after(0), 1e6, 1), flushed(after(10), 10, 1), flushed(after(15), 20, 2)}, 0, false},
		"a number that is 0": {[]members.Sample{flushed(after(0), 0, 0), flushed(after(10), 10, math.Inf(1))}, 0, false},
		"not served":         {[]members.Sample{{At: after(0)}, {At: after(10)}}, 0, true},
		"not readable":       {[]members.Sample{{Problem: "404"}, {Problem: "404"}}, 0, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := of(every)
			var got *results.Fired
			for _, s := range tc.samples {
				got = g.SeesSamples(map[string]members.Sample{"a": s})
			}
			if (got != nil) != (tc.want > 0) || got != nil && (got.Got != tc.want || got.Limit != 0.01 || got.Subject != "etcd-a") {
				t.Errorf("got %+v, wanted a mean of %v", got, tc.want)
			}
			if _, unwatched := g.Unwatched()[spec.GuardWALFsync]; unwatched != tc.unwatched {
				t.Errorf("unwatched is %v, wanted %v", g.Unwatched(), tc.unwatched)
			}
		})
	}
}

func TestSamplesWithoutARuleAreIgnored(t *testing.T) {
	g := of(spec.StopRules{Alarm: true})
	if fired := g.SeesSamples(map[string]members.Sample{"a": {Problem: "404"}}); fired != nil || len(g.Unwatched()) > 0 {
		t.Errorf("got %+v and %v, wanted neither", fired, g.Unwatched())
	}
}

func TestSeesRequests(t *testing.T) {
	type count struct {
		at            float64
		ended, failed uint64
	}
	tests := map[string]struct {
		counts []count
		want   float64
	}{
		"none fails":          {[]count{{0, 0, 0}, {10, 1000, 0}}, 0},
		"as many as may":      {[]count{{0, 0, 0}, {10, 1000, 100}}, 0},
		"one more":            {[]count{{0, 0, 0}, {10, 1000, 101}}, 101_000},
		"not for long enough": {[]count{{0, 0, 0}, {9, 1000, 1000}}, 0},
		"all is well again":   {[]count{{0, 0, 0}, {5, 1000, 100}, {15, 2000, 100}}, 0},
		"nothing ends":        {[]count{{0, 10, 10}, {10, 10, 10}}, 0},
		"the only one":        {[]count{{0, 0, 0}, {10, 1, 1}}, 1e6},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := of(every)
			var got *results.Fired
			for _, c := range tc.counts {
				got = g.SeesRequests(after(c.at), c.ended, c.failed)
			}
			if (got != nil) != (tc.want > 0) || got != nil && (math.Abs(got.Got-tc.want) > 1 || got.Limit != 100_000) {
				t.Errorf("got %+v, wanted %v in a million", got, tc.want)
			}
		})
	}
}
