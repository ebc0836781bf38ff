package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func maxMemory(bytes int64) v1alpha1.Objective {
	return v1alpha1.Objective{Type: spec.ObjectiveMemberMemory, MemberMemory: &v1alpha1.MemberBytesObjective{MaxBytes: bytes}}
}

func maxCPU(millicores int64) v1alpha1.Objective {
	return v1alpha1.Objective{Type: spec.ObjectiveMemberCPU, MemberCPU: &v1alpha1.MemberCPUObjective{MaxMillicores: millicores}}
}

func TestJudgeMembers(t *testing.T) {
	const (
		mean, p99            = v1alpha1.MemberStatisticMean, v1alpha1.MemberStatisticP99
		isMet, isMissed, not = v1alpha1.ObjectiveMet, v1alpha1.ObjectiveMissed, v1alpha1.ObjectiveUnknown
	)
	good := runtest.Flushed(1000)
	slow := runtest.Flushed(1000, func(f map[results.Figure]float64) { f[results.TimerWALFsync.Seconds()] = 5 })
	gone := &results.MemberWindow{Unknown: "its metrics could not be read"}
	unbounded := runtest.Flushed(1000, runtest.Without(results.TimerWALFsync.P99AtMost()))
	late := runtest.Flushed(1000, func(f map[results.Figure]float64) { f[results.FigureSampleLagSeconds] = 1.01 })
	tests := map[string]struct {
		objective v1alpha1.Objective
		windows   []*results.MemberWindow
		want      v1alpha1.ObjectiveResult
		got       string
	}{
		"a mean at its limit":               {runtest.MaxFsync(mean, 2000), []*results.MemberWindow{good}, isMet, "2ms at etcd-a"},
		"a mean above its limit":            {runtest.MaxFsync(mean, 1999), []*results.MemberWindow{good}, isMissed, "2ms at etcd-a"},
		"the worst of three":                {runtest.MaxFsync(mean, 3000), []*results.MemberWindow{good, slow, good}, isMissed, "5ms at etcd-b"},
		"the worst of three that are good":  {runtest.MaxFsync(mean, 6000), []*results.MemberWindow{good, slow, good}, isMet, "5ms at etcd-b"},
		"one without figures":               {runtest.MaxFsync(mean, 6000), []*results.MemberWindow{good, gone}, not, ""},
		"missed wins over unknown":          {runtest.MaxFsync(mean, 3000), []*results.MemberWindow{gone, slow, gone}, isMissed, "5ms at etcd-b"},
		"a bucket below the limit":          {runtest.MaxFsync(p99, 8000), []*results.MemberWindow{good}, isMet, "4ms to 8ms at etcd-a"},
		"a limit inside the bucket":         {runtest.MaxFsync(p99, 7999), []*results.MemberWindow{good}, not, "4ms to 8ms at etcd-a"},
		"a limit at the bucket's beginning": {runtest.MaxFsync(p99, 4000), []*results.MemberWindow{good}, isMissed, "4ms to 8ms at etcd-a"},
		"a bucket without end":              {runtest.MaxFsync(p99, 600_000_000), []*results.MemberWindow{unbounded}, not, "4ms or more at etcd-a"},
		"a bucket without end, missed":      {runtest.MaxFsync(p99, 3000), []*results.MemberWindow{unbounded}, isMissed, "4ms or more at etcd-a"},
		"29 observations":                   {runtest.MaxFsync(mean, 1), []*results.MemberWindow{runtest.Flushed(29)}, not, ""},
		"30 observations":                   {runtest.MaxFsync(mean, 1), []*results.MemberWindow{runtest.Flushed(30)}, isMissed, "2ms at etcd-a"},
		"samples too far off the window":    {runtest.MaxFsync(mean, 2000), []*results.MemberWindow{late}, not, ""},
		"a window that did not arrive":      {runtest.MaxFsync(mean, 2000), []*results.MemberWindow{nil}, not, ""},
		"no members":                        {runtest.MaxFsync(mean, 2000), nil, not, ""},
		"a metric that is not served":       {runtest.MaxCount(spec.ObjectiveSlowApplies, 9), []*results.MemberWindow{runtest.Flushed(1000, runtest.Without(results.FigureSlowApplies))}, not, ""},
		"no slow applies":                   {runtest.MaxCount(spec.ObjectiveSlowApplies, 0), []*results.MemberWindow{good}, isMet, "0 at etcd-a"},
		"a leader change":                   {runtest.MaxCount(spec.ObjectiveLeaderChanges, 0), []*results.MemberWindow{good}, isMissed, "1 at etcd-a"},
		"failed proposals":                  {runtest.MaxCount(spec.ObjectiveFailedProposals, 3), []*results.MemberWindow{good}, isMet, "3 at etcd-a"},
		"growth":                            {runtest.MaxGrowth(1999), []*results.MemberWindow{good}, isMissed, "2,000 B at etcd-a"},
		"growth within":                     {runtest.MaxGrowth(2000), []*results.MemberWindow{good}, isMet, "2,000 B at etcd-a"},
		"growth from an unknown size":       {runtest.MaxGrowth(2000), []*results.MemberWindow{runtest.Flushed(9, runtest.Without(results.FigureDatabaseStartBytes))}, not, ""},
		"memory":                            {maxMemory(1<<30 - 1), []*results.MemberWindow{good}, isMissed, "1,073,741,824 B at etcd-a"},
		"processors":                        {maxCPU(1500), []*results.MemberWindow{good}, isMet, "1,500 millicores at etcd-a"},
		"too many processors":               {maxCPU(1499), []*results.MemberWindow{good}, isMissed, "1,500 millicores at etcd-a"},
		"a round trip that is not served": {v1alpha1.Objective{Type: spec.ObjectivePeerRoundTrip, PeerRoundTrip: &v1alpha1.MemberDurationObjective{MaxMicroseconds: 1}},
			[]*results.MemberWindow{good}, not, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts(runtest.Objectives(tc.objective))
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(tc.windows...))})
			got, _ := Judge(b, &s, v1alpha1.ReasonCompleted)
			if got[0].Result != tc.want || got[0].Got != tc.got || got[0].Wanted == "" {
				t.Errorf("got %+v, wanted %s with %q", got[0], tc.want, tc.got)
			}
			if (tc.want == not) != (got[0].Message != "") {
				t.Errorf("%s says why: %q", got[0].Result, got[0].Message)
			}
		})
	}
}

// The members' figures of a run without a pod's part cannot meet an objective.
func TestMembersOfAPartialRunMeetNothing(t *testing.T) {
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(1000))), nil})
	for limit, want := range map[int64]v1alpha1.ObjectiveResult{2000: v1alpha1.ObjectiveUnknown, 1: v1alpha1.ObjectiveMissed} {
		got, _ := Judge(runtest.Puts(runtest.Objectives(runtest.MaxFsync(v1alpha1.MemberStatisticMean, limit))), &s, v1alpha1.ReasonCompleted)
		if got[0].Result != want {
			t.Errorf("limit %d µs: got %+v, wanted %s", limit, got[0], want)
		}
	}
}

// Status allows 512 characters, however long a member's text is.
func TestTheReasonOfAnObjectiveIsBounded(t *testing.T) {
	unsaid := &results.MemberWindow{Unknown: strings.Repeat("x", 512)}
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(unsaid))})
	got, _ := Judge(runtest.Puts(runtest.Objectives(runtest.MaxGrowth(1))), &s, v1alpha1.ReasonCompleted)
	if n := len(got[0].Message); n != 512 {
		t.Errorf("the message has %d bytes, wanted it cut to 512", n)
	}
}

// For a run bound by duration, the due requests are the reference, also if the rate changed.
func TestTheRateOfATimeIsJudgedByWhatWasDue(t *testing.T) {
	forATime := func(s *results.Snapshot) { s.Window.Planned, s.Window.PlannedRequests = time.Second, 0 }
	late := func(s *results.Snapshot) { s.Operations[spec.OperationPut].CompletedInWindow-- }
	tests := map[string]struct {
		snapshot *results.Snapshot
		percent  int32
		want     v1alpha1.ObjectiveResult
	}{
		"all in time":       {runtest.Measured(0, 100, forATime), 100, v1alpha1.ObjectiveMet},
		"one after the end": {runtest.Measured(0, 100, forATime, late), 100, v1alpha1.ObjectiveMissed},
		"nine of ten":       {runtest.Measured(0, 90, forATime, runtest.Failing(5, "Unavailable", 1), runtest.CutOff(5, 1)), 90, v1alpha1.ObjectiveMet},
		"less than that":    {runtest.Measured(0, 90, forATime, runtest.Failing(6, "Unavailable", 1), runtest.CutOff(5, 1)), 90, v1alpha1.ObjectiveMissed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts(runtest.Objectives(v1alpha1.Objective{AchievedRate: &v1alpha1.AchievedRateObjective{MinPercent: tc.percent}}), func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Load.Requests, b.Spec.Load.DurationSeconds, b.Spec.Load.Rate = nil, new(int32(1)), &spec.Rate{PerSecond: 7}
			})
			s := results.Summarize([]*results.Snapshot{tc.snapshot})
			if got, _ := Judge(b, &s, v1alpha1.ReasonCompleted); got[0].Result != tc.want {
				t.Errorf("got %+v, wanted %s", got[0], tc.want)
			}
		})
	}
}

func TestJudgeTheRun(t *testing.T) {
	const second, ms = time.Second, time.Millisecond
	late := runtest.Measured(1, 100, func(s *results.Snapshot) { s.Window.Skew = 40 * ms })
	rate := func(percent int32) v1alpha1.Objective {
		return v1alpha1.Objective{AchievedRate: &v1alpha1.AchievedRateObjective{MinPercent: percent}}
	}
	skew := func(micros int64) v1alpha1.Objective {
		return v1alpha1.Objective{StartSkew: &v1alpha1.StartSkewObjective{MaxMicroseconds: micros}}
	}
	whole := []*results.Snapshot{runtest.Measured(0, 100)}
	tests := map[string]struct {
		objective v1alpha1.Objective
		snaps     []*results.Snapshot
		want      v1alpha1.ObjectiveResult
	}{
		// 100 puts in a second in which 110 are due are 90.9 %.
		"the rate was reached":            {rate(90), whole, v1alpha1.ObjectiveMet},
		"the rate was not reached":        {rate(91), whole, v1alpha1.ObjectiveMissed},
		"the rate without a pod's part":   {rate(1), []*results.Snapshot{runtest.Measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
		"skew at its limit":               {skew(40_000), []*results.Snapshot{runtest.Measured(0, 100), late}, v1alpha1.ObjectiveMet},
		"skew above its limit":            {skew(39_999), []*results.Snapshot{runtest.Measured(0, 100), late}, v1alpha1.ObjectiveMissed},
		"skew without a pod's part":       {skew(second.Microseconds()), []*results.Snapshot{runtest.Measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
		"a deviation below its limit":     {runtest.MaxLatency(spec.StatisticStddev, 29_000), whole, v1alpha1.ObjectiveMet},
		"a deviation above its limit":     {runtest.MaxLatency(spec.StatisticStddev, 28_000), whole, v1alpha1.ObjectiveMissed},
		"a deviation with a failure":      {runtest.MaxLatency(spec.StatisticStddev, 1), []*results.Snapshot{runtest.Measured(0, 98, runtest.Failing(1, "Unavailable", ms))}, v1alpha1.ObjectiveUnknown},
		"a deviation with one cut off":    {runtest.MaxLatency(spec.StatisticStddev, 1), []*results.Snapshot{runtest.Measured(0, 98, runtest.CutOff(1, ms))}, v1alpha1.ObjectiveUnknown},
		"a deviation without a success":   {runtest.MaxLatency(spec.StatisticStddev, 1), []*results.Snapshot{runtest.Measured(0, 0, runtest.Failing(1, "Unavailable", ms))}, v1alpha1.ObjectiveUnknown},
		"a deviation in a partial result": {runtest.MaxLatency(spec.StatisticStddev, 29_000), []*results.Snapshot{runtest.Measured(0, 100), nil}, v1alpha1.ObjectiveUnknown},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts(runtest.Objectives(tc.objective), func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Rate = &spec.Rate{PerSecond: 110} })
			s := results.Summarize(tc.snaps)
			got, _ := Judge(b, &s, v1alpha1.ReasonCompleted)
			if got[0].Result != tc.want || got[0].Wanted == "" {
				t.Errorf("got %+v, wanted %s", got[0], tc.want)
			}
		})
	}
}

// Starts are measured with the pods' own clocks. If the clocks differ, the true value can be on the other side of the
// limit.
func TestSkewByClocksThatDiffer(t *testing.T) {
	const ms = time.Millisecond
	starts := func(skew time.Duration) []*results.Snapshot {
		return []*results.Snapshot{runtest.Measured(0, 100), runtest.Measured(1, 100, func(s *results.Snapshot) { s.Window.Skew = skew })}
	}
	tests := map[string]struct {
		snaps   []*results.Snapshot
		offsets []time.Duration
		want    v1alpha1.ObjectiveResult
	}{
		"kept, and alike":            {starts(40 * ms), []time.Duration{0, 0}, v1alpha1.ObjectiveMet},
		"kept, off by less":          {starts(40 * ms), []time.Duration{-30 * ms, 30 * ms}, v1alpha1.ObjectiveMet},
		"kept, off by more":          {starts(40 * ms), []time.Duration{-31 * ms, 30 * ms}, v1alpha1.ObjectiveUnknown},
		"kept, one is far behind":    {starts(0), []time.Duration{0, -time.Minute}, v1alpha1.ObjectiveUnknown},
		"kept, all are far behind":   {starts(40 * ms), []time.Duration{-time.Minute, -time.Minute}, v1alpha1.ObjectiveMet},
		"kept, only one is known of": {starts(40 * ms), []time.Duration{time.Minute}, v1alpha1.ObjectiveUnknown},
		"broken, off by less":        {starts(140 * ms), []time.Duration{0, 39 * ms}, v1alpha1.ObjectiveMissed},
		"broken, off by more":        {starts(140 * ms), []time.Duration{0, 40 * ms}, v1alpha1.ObjectiveUnknown},
		"one pod, far behind":        {[]*results.Snapshot{runtest.Measured(0, 100)}, []time.Duration{-time.Minute}, v1alpha1.ObjectiveMet},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts(runtest.Objectives(v1alpha1.Objective{StartSkew: &v1alpha1.StartSkewObjective{MaxMicroseconds: 100_000}}))
			for i := range tc.snaps {
				p := v1alpha1.PodStatus{Index: int32(i)}
				if i < len(tc.offsets) {
					p.ClockOffsetMicroseconds = new(tc.offsets[i].Microseconds())
				}
				b.Status.Pods = append(b.Status.Pods, p)
			}
			s := results.Summarize(tc.snaps)
			got, _ := Judge(b, &s, v1alpha1.ReasonCompleted)
			if got[0].Result != tc.want || tc.want == v1alpha1.ObjectiveUnknown && got[0].Message == "" {
				t.Errorf("got %+v, wanted %s, and why if it is Unknown", got[0], tc.want)
			}
		})
	}
}

// The length of a run bound by requests also depends on several clocks.
func TestRatesByClocksThatDiffer(t *testing.T) {
	const ms = time.Millisecond
	// 200 requests in 1.5 s; the window of each pod is one second.
	later := func(s *results.Snapshot) {
		w := &s.Window
		w.Start, w.End, w.LastResponse = w.Start.Add(500*ms), w.End.Add(500*ms), w.LastResponse.Add(500*ms)
	}
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100), runtest.Measured(1, 100, later)})
	bound := func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Rate = &spec.Rate{PerSecond: 100} }
	lasting := func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = nil, new(int32(1))
	}
	tests := map[string]struct {
		// limit in requests per second, and in percent of the rate.
		limit  int64
		apart  time.Duration
		change func(*v1alpha1.EtcdBenchmark)
		want   v1alpha1.ObjectiveResult
	}{
		"kept":                   {133, 0, bound, v1alpha1.ObjectiveMet},
		"kept, off by less":      {120, 166 * ms, bound, v1alpha1.ObjectiveMet},
		"kept, off by more":      {120, 167 * ms, bound, v1alpha1.ObjectiveUnknown},
		"broken":                 {134, 0, bound, v1alpha1.ObjectiveMissed},
		"broken, off by less":    {150, 166 * ms, bound, v1alpha1.ObjectiveMissed},
		"broken, off by more":    {150, 167 * ms, bound, v1alpha1.ObjectiveUnknown},
		"broken, off by minutes": {200, time.Minute, bound, v1alpha1.ObjectiveUnknown},
		"more than one pod's":    {201, time.Minute, bound, v1alpha1.ObjectiveMissed},
		"broken in its own time": {134, time.Minute, lasting, v1alpha1.ObjectiveMissed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts(tc.change, runtest.Objectives(runtest.MinThroughput(tc.limit), v1alpha1.Objective{
				Name: "share", Type: spec.ObjectiveAchievedRate, AchievedRate: &v1alpha1.AchievedRateObjective{MinPercent: int32(tc.limit)},
			}))
			b.Status.Pods = []v1alpha1.PodStatus{{ClockOffsetMicroseconds: new(tc.apart.Microseconds())}, {Index: 1}}
			got, _ := Judge(b, &s, v1alpha1.ReasonCompleted)
			for _, o := range got {
				if b.Spec.Load.Rate == nil && o.Name == "share" {
					continue
				}
				if o.Result != tc.want || (tc.want == v1alpha1.ObjectiveUnknown) != (o.Message != "") {
					t.Errorf("got %+v, wanted %s, and why if it is Unknown", o, tc.want)
				}
			}
		})
	}
}

// An unlisted member may have broken a limit, so the limit cannot be met. A listed member can still miss it.
func TestMembersThatWereNotListedMeetNothing(t *testing.T) {
	unlisted := func(s *results.Snapshot) { s.Target.Unlisted = "no answer" }
	for limit, want := range map[int64]v1alpha1.ObjectiveResult{5: v1alpha1.ObjectiveUnknown, 0: v1alpha1.ObjectiveMissed} {
		o := runtest.MaxCount(spec.ObjectiveLeaderChanges, limit)
		s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 50, runtest.Told(runtest.Flushed(1000)), unlisted)})
		got, _ := Judge(runtest.Puts(runtest.Objectives(o)), &s, v1alpha1.ReasonCompleted)
		if got[0].Result != want || want == v1alpha1.ObjectiveUnknown && !strings.Contains(got[0].Message, "no answer") {
			t.Errorf("at most %d: got %+v, wanted %s, with the reason", limit, got[0], want)
		}
	}
}
