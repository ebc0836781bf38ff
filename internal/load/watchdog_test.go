package load

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/guard"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// lasting is a load that lasts longer than any test.
func lasting(rules spec.StopRules) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Load.Requests, p.Load.DurationSeconds, p.TimeoutSeconds = nil, new(int32(600)), 1200
		p.Guard.StopOn = &rules
		p.Target.SampleIntervalSeconds = 1
	}
}

// onceMeasuring makes the target healthy until the load measures, and then changes its members' state and samples.
func onceMeasuring(d *fakeDriver, then members.State) {
	var measuring atomic.Bool
	d.answer = func(ctx context.Context, req *Request, resp *Response) {
		answerAfter(time.Millisecond)(ctx, req, resp)
		if PhaseOf(ctx) == results.PhaseMeasured {
			measuring.Store(true)
		}
	}
	d.view = func() members.View {
		state := members.State{Leader: "a", Term: 1, Version: "3.7.3"}
		if measuring.Load() {
			state = then
		}
		return members.View{At: time.Now(), Members: map[string]members.State{"a": state}}
	}
	d.first = d.view
	if sample := d.sample; sample != nil {
		d.sample = func(n int64, s *members.Sample) {
			if measuring.Load() {
				sample(n, s)
			}
		}
	}
}

func TestARuleThatFiresEndsTheLoadCleanly(t *testing.T) {
	slow := func(n int64, s *members.Sample) {
		s.Timers = map[results.Timer]members.Histogram{results.TimerWALFsync: {Count: float64(n), Seconds: float64(n)}}
	}
	tests := map[string]struct {
		rules spec.StopRules
		then  members.State
		fails bool
		want  spec.GuardRule
	}{
		"alarm":       {spec.StopRules{Alarm: true}, members.State{Alarm: "NOSPACE"}, false, spec.GuardAlarm},
		"leader":      {spec.StopRules{LeaderChange: true}, members.State{Leader: "b", Term: 2}, false, spec.GuardLeaderChange},
		"database":    {spec.StopRules{DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 1}}, members.State{DatabaseBytes: 2}, false, spec.GuardDatabaseSize},
		"errors":      {spec.StopRules{ErrorRatio: &spec.ErrorRatioRule{MaxPerMillion: 1, ForSeconds: 1}}, members.State{}, true, spec.GuardErrorRatio},
		"log flushes": {spec.StopRules{WALFsync: &spec.WALFsyncRule{MaxMeanMicroseconds: 1, ForSeconds: 1}}, members.State{}, false, spec.GuardWALFsync},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &fakeDriver{memory: map[string]int64{"a": 1}, sample: slow}
			onceMeasuring(d, tc.then)
			if tc.fails {
				d.answer = func(ctx context.Context, req *Request, resp *Response) {
					answerAfter(time.Millisecond)(ctx, req, resp)
					if PhaseOf(ctx) != results.PhasePreload {
						resp.Code = CodeDeadlineExceeded
					}
				}
			}
			got := run(t, planOf(lasting(tc.rules)), d)
			if got.Fired == nil || got.Fired.Rule != tc.want || got.Fired.At.IsZero() {
				t.Fatalf("%+v fired, wanted %s", got.Fired, tc.want)
			}
			if e := endedOf(got); !got.Stopped || got.Cleaning != results.CleaningKeysDeleted || e.Succeeded+e.Failed == 0 || e.Censored > 0 {
				t.Errorf("the session ended with stopped %v, cleaning %s and %+v; wanted measured requests and deleted keys", got.Stopped, got.Cleaning, e)
			}
		})
	}
}

// boundByRequests has two pods. The first is done at once; the second sends until its context ends.
func boundByRequests(rules spec.StopRules) func(*plan.Plan) {
	return func(p *plan.Plan) { p.Load.Pods, p.Guard.StopOn = 2, &rules }
}

// In a run bound by requests, client pod 0 watches the target while it waits for the other pods.
func TestPodZeroWatchesTheTargetForOtherPods(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*plan.Plan)
		index  int
		want   bool
	}{
		"pods that go on":     {boundByRequests(spec.StopRules{Alarm: true}), 0, true},
		"by another pod":      {boundByRequests(spec.StopRules{Alarm: true}), 1, false},
		"a single pod":        {func(p *plan.Plan) { p.Guard.StopOn.Alarm = true }, 0, false},
		"a load of some time": {func(p *plan.Plan) { boundByRequests(spec.StopRules{Alarm: true})(p); forOneSecond(0)(p) }, 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var session atomic.Pointer[Session]
			var alarms atomic.Int32
			judged := make(chan struct{})
			d := &fakeDriver{view: func() members.View {
				state := members.State{Leader: "a", Term: 1}
				if session.Load().Stage() == results.StageCleaning {
					state.Alarm = "NOSPACE"
					// The first alarm was judged before the second view.
					if alarms.Add(1) == 2 {
						close(judged)
					}
				}
				return members.View{At: time.Now(), Members: map[string]members.State{"a": state}}
			}}
			if tc.want {
				d.hook = func(_ context.Context, step string) error {
					if step == "release" {
						<-judged
					}
					return nil
				}
			}
			s := newSession(t, planOf(tc.change), tc.index, d, newControl())
			session.Store(s)
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := s.Snapshot()
			if got.Stopped || endedOf(got).Censored > 0 || got.Cleaning != results.CleaningKeysDeleted {
				t.Errorf("stopped %v with %+v and %s, wanted its own part whole", got.Stopped, endedOf(got), got.Cleaning)
			}
			if fired := got.Fired != nil; fired != tc.want {
				t.Errorf("%+v fired, wanted so: %v", got.Fired, tc.want)
			}
		})
	}
}

// Requests in flight at the end of the window get their full time, even if a rule would fire then.
func TestNoRuleFiresAfterTheWindow(t *testing.T) {
	t.Parallel()
	var session atomic.Pointer[Session]
	var inFlight, alarms atomic.Int32
	judged := make(chan struct{})
	d := &fakeDriver{view: func() members.View {
		state := members.State{Leader: "a", Term: 1}
		if session.Load().Stage() == results.StageDraining {
			state.Alarm = "NOSPACE"
			// The first alarm was judged before the second view.
			if alarms.Add(1) == 2 {
				close(judged)
			}
		}
		return members.View{At: time.Now(), Members: map[string]members.State{"a": state}}
	}}
	d.answer = func(ctx context.Context, req *Request, resp *Response) {
		answerAfter(time.Millisecond)(ctx, req, resp)
		if PhaseOf(ctx) == results.PhaseMeasured && inFlight.Add(1) == 1 {
			<-judged
		}
	}
	s := newSession(t, planOf(forOneSecond(100), func(p *plan.Plan) { p.Guard.StopOn.Alarm = true }), 0, d, newControl())
	session.Store(s)
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.Snapshot(); s.watchdog.fired != nil || got.Stopped {
		t.Errorf("%+v fired, stopped %v: wanted it to end by itself", s.watchdog.fired, got.Stopped)
	}
}

// A rule that fires in the last moment of the window is reported.
func TestARuleThatFiresLastIsReported(t *testing.T) {
	alarm := &results.Fired{Rule: spec.GuardAlarm}
	tests := map[string]struct {
		before, after *results.Fired
		want          *results.Fired
	}{
		"nothing fires":  {nil, nil, nil},
		"before it does": {alarm, nil, alarm},
		"after it did":   {nil, alarm, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stops := 0
			w := &watchdog{stop: func() { stops++ }}
			w.judge(func(*guard.Guard) *results.Fired { return tc.before })
			hadFired := w.disarm()
			w.judge(func(*guard.Guard) *results.Fired { return tc.after })
			if stopped := tc.want != nil; hadFired != stopped || (stops > 0) != stopped || w.fired != tc.want {
				t.Errorf("had fired: %v, stopped %d times, keeps %+v; wanted %v", hadFired, stops, w.fired, stopped)
			}
		})
	}
}

func TestNothingFiresWithoutItsRule(t *testing.T) {
	d := &fakeDriver{}
	onceMeasuring(d, members.State{Alarm: "NOSPACE", Leader: "b", Term: 7, DatabaseBytes: 1 << 40})
	if got := run(t, planOf(forOneSecond(100)), d); got.Fired != nil || got.Stopped || len(got.Unwatched) > 0 {
		t.Errorf("%+v fired, stopped %v, unwatched %v: wanted the whole load", got.Fired, got.Stopped, got.Unwatched)
	}
}

// A rule that fires during the preload ends it.
func TestAPreloadIsWatched(t *testing.T) {
	d := &fakeDriver{view: func() members.View {
		return members.View{At: time.Now(), Members: map[string]members.State{"a": {Alarm: "NOSPACE"}}}
	}}
	d.answer = func(ctx context.Context, req *Request, resp *Response) {
		if PhaseOf(ctx) == results.PhasePreload {
			<-ctx.Done()
			resp.Code = CodeCanceled
		}
	}
	got := run(t, planOf(lasting(spec.StopRules{Alarm: true})), d)
	if got.Fired == nil || !got.Stopped || !got.Window.Start.IsZero() || got.Failure != nil {
		t.Errorf("%+v fired, stopped %v, failed %+v, window %+v: wanted it to end before a start", got.Fired, got.Stopped, got.Failure, got.Window)
	}
}

func TestRulesThatCannotBeWatchedAreReported(t *testing.T) {
	d := &fakeDriver{memory: map[string]int64{"a": 1}}
	d.view = func() members.View {
		return members.View{At: time.Now(), Members: map[string]members.State{"a": {Problem: "no answer"}}}
	}
	rules := spec.StopRules{Alarm: true, DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 1}, WALFsync: &spec.WALFsyncRule{MaxMeanMicroseconds: 1, ForSeconds: 1}}
	got := run(t, planOf(forOneSecond(100), func(p *plan.Plan) { p.Guard.StopOn = &rules }), d)
	if got.Fired != nil || got.Stopped {
		t.Errorf("%+v fired without data", got.Fired)
	}
	for _, rule := range []spec.GuardRule{spec.GuardAlarm, spec.GuardDatabaseSize, spec.GuardWALFsync} {
		if got.Unwatched[rule] == "" {
			t.Errorf("%s is not reported as unwatched; found %v", rule, got.Unwatched)
		}
	}
}

// Client pod 0 reports changes of the target, with or without stop rules.
func TestChangesOfTheTargetAreReported(t *testing.T) {
	d := &fakeDriver{}
	onceMeasuring(d, members.State{Leader: "b", Term: 2, Version: "3.7.3"})
	got := run(t, planOf(forOneSecond(100)), d)
	if len(got.Target.Changes) != 1 || got.Target.Changes[0].Aspect != results.AspectLeader || !strings.Contains(got.Target.Changes[0].Detail, "b") {
		t.Errorf("changes are %+v, wanted that of the leader", got.Target.Changes)
	}
}

// A change before the first check during the load is a change since the preflight.
func TestAnElectionBeforeTheFirstCheckIsReported(t *testing.T) {
	of := func(leader string, term uint64) members.View {
		return members.View{At: time.Now(), Members: map[string]members.State{"a": {Leader: leader, Term: term, Version: "3.7.3"}}}
	}
	tests := map[string]struct {
		rules spec.StopRules
		fires bool
	}{
		"no rule":             {spec.StopRules{}, false},
		"and ends, by a rule": {spec.StopRules{LeaderChange: true}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := &fakeDriver{first: func() members.View { return of("a", 1) }, view: func() members.View { return of("b", 2) }}
			got := run(t, planOf(forOneSecond(100), func(p *plan.Plan) { p.Guard.StopOn = &tc.rules }), d)
			if len(got.Target.Changes) != 1 || got.Target.Changes[0].Aspect != results.AspectLeader || (got.Fired != nil) != tc.fires {
				t.Errorf("changes are %+v, fired %+v: wanted the election, and a rule that fires: %v", got.Target.Changes, got.Fired, tc.fires)
			}
		})
	}
}

// If the target breaks a rule before the first write, client pod 0 ends the run, and nothing is written.
func TestARuleBrokenBeforeTheFirstWriteEndsTheRun(t *testing.T) {
	large := func() members.View {
		return members.View{At: time.Now(), Members: map[string]members.State{"a": {DatabaseBytes: 2}}}
	}
	for index, fires := range []bool{true, false} {
		d := &fakeDriver{first: large}
		s := newSession(t, planOf(forOneSecond(100), func(p *plan.Plan) { p.Load.Pods, p.Guard.StopOn.DatabaseSize = 2, &spec.DatabaseSizeRule{MaxBytes: 1} }), index, d, newControl())
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := s.Snapshot()
		if (got.Fired != nil) != fires || got.Stopped != fires || slices.Contains(d.steps, "claim") == fires || (got.Cleaning == results.CleaningNothingWritten) != fires {
			t.Errorf("pod %d: %+v fired, stopped %v, it did %v, %s; wanted a rule that fires before a claim: %v", index, got.Fired, got.Stopped, d.steps, got.Cleaning, fires)
		}
	}
}

// A member that reported only before the load counts as not observed under it.
func TestATargetThatStopsReportingIsUnobserved(t *testing.T) {
	well := func() members.View {
		return members.View{At: time.Now(), Members: map[string]members.State{"a": {Leader: "a", Term: 1, Version: "3.7.3"}}, Voters: []string{"a"}}
	}
	var looks atomic.Int32
	d := &fakeDriver{first: well, view: func() members.View {
		if looks.Add(1) == 1 {
			return well()
		}
		return members.View{At: time.Now(), Members: map[string]members.State{"a": {Problem: "no answer"}}}
	}}
	if unobserved := run(t, planOf(forOneSecond(100)), d).Target.Unobserved; len(unobserved) != 3 {
		t.Errorf("unobserved are %v, wanted leader, version and members: one view is too few", unobserved)
	}
}

// The other pods check only their own requests.
func TestOnlyPodZeroWatchesTheTarget(t *testing.T) {
	var looks atomic.Int32
	drivers := []*fakeDriver{{}, {view: func() members.View {
		looks.Add(1)
		return members.View{}
	}}}
	runParts(t, planOf(func(p *plan.Plan) { p.Load.Pods = 2 }), drivers)
	if n := looks.Load(); n > 0 {
		t.Errorf("pod 1 looked %d times at the target, wanted never", n)
	}
}

func TestAFailedSessionStopsWatching(t *testing.T) {
	d := &fakeDriver{hook: func(_ context.Context, step string) error {
		if step == "claim" {
			return errors.New("no")
		}
		return nil
	}}
	s := newSession(t, planOf(), 0, d, newControl())
	if err := s.Run(t.Context()); err == nil || !isClosed(s.watchdog.ended) {
		t.Errorf("error %v: wanted one, and the end of the watch", err)
	}
}
