package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// AppendWarning keeps the last warning for any number and length of warnings. The schema of status counts characters.
func TestAppendWarning(t *testing.T) {
	var warnings []string
	for i := range 2 * v1alpha1.MaxWarnings {
		last := fmt.Sprint(i, strings.Repeat("é", v1alpha1.MaxWarningLength))
		warnings = AppendWarning(warnings, last)
		got := warnings[len(warnings)-1]
		if len(warnings) != min(i+1, v1alpha1.MaxWarnings) || !strings.HasPrefix(got, fmt.Sprint(i, "é")) || utf8.RuneCountInString(got) > v1alpha1.MaxWarningLength {
			t.Fatalf("wanted warning %d to be the last of at most %d, found %d, and as the last %q", i, v1alpha1.MaxWarnings, len(warnings), got)
		}
	}
}

func TestWarningsGroupDigits(t *testing.T) {
	s := runtest.Measured(0, 100)
	s.Watch = results.Watch{Watchers: 1, Expected: 1_234_567, Missed: 12_345, Cancelled: 1_000, Resumed: 2_000, Duplicate: 3_000}
	wanted := map[string]bool{"12,345 of 1,234,567": false, "1,000 times": false, "2,000 times": false, "3,000 events": false}
	for _, w := range Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{s})) {
		for part := range wanted {
			wanted[part] = wanted[part] || strings.Contains(w, part)
		}
	}
	for part, found := range wanted {
		if !found {
			t.Errorf("no warning says %q", part)
		}
	}
}

// The code alone does not say what was refused.
func TestTheWarningOfFailuresHasTheMessage(t *testing.T) {
	const noSpace = "etcdserver: mvcc: database space exceeded"
	for message, wantAdvice := range map[string]bool{
		"": true, noSpace: true, "grpc: received message larger than max (3000000 vs. 2097152)": false,
	} {
		s := runtest.Measured(0, 90, runtest.Failing(10, "ResourceExhausted", time.Millisecond), runtest.Failing(1, "Unavailable", time.Millisecond))
		s.Operations[spec.OperationPut].Examples.Add("ResourceExhausted", message)
		s.Operations[spec.OperationPut].Examples.Add("Unavailable", "another")
		warnings := Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{s}))
		i := slices.IndexFunc(warnings, func(w string) bool { return strings.Contains(w, "11 of 101 Put requests failed") })
		if i < 0 || !strings.Contains(warnings[i], message) || strings.Contains(warnings[i], "()") || strings.Contains(warnings[i], "NOSPACE") != wantAdvice {
			t.Errorf("%q: the warnings are %q", message, warnings)
		}
	}
}

// pod is a pod with a window from start to end and n successes.
func pod(start, end time.Duration, n int) *results.Snapshot {
	s := &results.Snapshot{
		RunUID: "a", Transport: spec.TransportClient, Stage: results.StageDone,
		Window: results.Window{
			StartAt: runtest.WindowStart, Skew: start, Start: runtest.WindowStart.Add(start), End: runtest.WindowStart.Add(end),
			LastResponse: runtest.WindowStart.Add(end), Planned: end - start,
		},
		Operations: map[spec.Operation]*results.OperationResult{spec.OperationPut: {CompletedInWindow: uint64(n)}},
	}
	for range n {
		s.Operations[spec.OperationPut].Latency.Record(int64(time.Millisecond))
	}
	return s
}

// requestBound is a pod whose window ends with its last response.
func requestBound(start, last time.Duration, n int) *results.Snapshot {
	s := pod(start, last, n)
	s.Window.Planned, s.Window.PlannedRequests = 0, uint64(n)
	s.Window.End = s.Window.End.Add(time.Second)
	return s
}

// targeted is a pod whose target has members of these versions, without a quota.
func targeted(estimate int64, versions ...string) *results.Snapshot {
	s := pod(0, 10*time.Second, 9)
	s.Target = &results.Target{WriteEstimateBytes: estimate}
	for i, v := range versions {
		name := fmt.Sprint("member-", i)
		s.Target.Members = append(s.Target.Members, results.Member{ID: name, Name: name, Endpoint: name, Version: v})
	}
	return s
}

// withCourse is a pod of this many requests that has their course.
func withCourse(requests int) *results.Snapshot {
	p := pod(0, 10*time.Second, requests)
	for i := range requests {
		p.Timeline.Record(time.Duration(i)*time.Second, time.Millisecond, true)
	}
	return p
}

func TestWarnings(t *testing.T) {
	const s = time.Second
	other, short, coarse, untimed := pod(0, 10*s, 9), pod(0, 10*s, 9), pod(0, 10*s, 9), pod(0, 10*s, 9)
	untimed.CoarsePacing = true
	other.Transport = spec.TransportFast
	short.Omitted = []string{"service time", strings.Repeat("x", text.MaxBytes)}
	coarse.Operations[spec.OperationPut].Latency.Reduce(4)
	elected := targeted(0, "3.5.1", "3.5.1")
	elected.Target.Members[0].Window = &results.MemberWindow{Figures: map[results.Figure]float64{results.FigureLeaderChanges: 0}}
	elected.Target.Members[1].Window = &results.MemberWindow{Figures: map[results.Figure]float64{results.FigureLeaderChanges: 1}}
	away, restarted := targeted(0, "3.5.1", "3.5.1"), targeted(0, "3.5.1")
	away.Target.Members[1].Window = &results.MemberWindow{Unknown: results.UnknownAtEnd + results.UnreadMetrics + " at 10.0.0.2"}
	moved := targeted(0, "3.5.1")
	moved.Target.Members[0].Window = &results.MemberWindow{Unknown: results.UnknownAtEnd + "10.0.0.1 leads to the metrics of another member"}
	restarted.Target.Members[0].Window = &results.MemberWindow{Unknown: results.UnknownRestarted + ", which reset its counters"}
	unwatched := &results.Snapshot{Unwatched: map[spec.GuardRule]string{spec.GuardWALFsync: "a", spec.GuardAlarm: results.NeverWatched + "c"}}
	tests := map[string]struct {
		pods []*results.Snapshot
		want []string
	}{
		"nothing to say":        {[]*results.Snapshot{pod(0, 10*s, 9), requestBound(0, 10*s, 9)}, nil},
		"a short tail":          {[]*results.Snapshot{requestBound(0, 10*s, 9), requestBound(0, 9*s, 9)}, nil},
		"a long tail":           {[]*results.Snapshot{requestBound(0, 10*s, 9), requestBound(0, 8*s, 9)}, []string{"2s after the first (20%"}},
		"a late start":          {[]*results.Snapshot{pod(0, 10*s, 9), pod(s, 11*s, 9)}, []string{"started 1s after the first (10%"}},
		"two transports":        {[]*results.Snapshot{other, pod(0, 10*s, 9)}, []string{"transports"}},
		"two versions":          {[]*results.Snapshot{targeted(0, "3.5.1", "3.6.0", "3.5.1")}, []string{"3.5.1, 3.6.0"}},
		"an election":           {[]*results.Snapshot{elected}, []string{"the leader changed"}},
		"a member that went":    {[]*results.Snapshot{away}, []string{"member-1 served metrics at the start of the measured window, and not at its end: its metrics could not be read at 10.0.0.2"}},
		"another member there":  {[]*results.Snapshot{moved}, nil},
		"a member restarted":    {[]*results.Snapshot{restarted}, []string{"member-0 restarted in the measured window"}},
		"no quota":              {[]*results.Snapshot{targeted(7e6, "3.5.1", "3.5.1")}, []string{"member-0, member-1 reported no quota"}},
		"no estimate":           {[]*results.Snapshot{targeted(0, "3.5.1")}, nil},
		"left out":              {[]*results.Snapshot{short}, []string{"service time"}},
		"no exact timer":        {[]*results.Snapshot{pod(0, 10*s, 9), untimed}, []string{"no exact kernel timer: requests were sent up to 1 ms late"}},
		"coarse":                {[]*results.Snapshot{coarse}, []string{"2.19%"}},
		"a course of some pods": {[]*results.Snapshot{withCourse(9), pod(0, 10*s, 9)}, []string{"course of some client pods is unknown"}},
		"a course of all pods":  {[]*results.Snapshot{withCourse(9), withCourse(9)}, nil},
		"lost connections": {
			[]*results.Snapshot{{Sessions: results.Sessions{Cuts: 2, LongestCut: s}}, {Sessions: results.Sessions{Cuts: 1, LongestCut: 3 * s}}},
			[]string{"sessions of the load lost their connection 3 times; the longest pause was 3s"},
		},
		"another time-out": {
			[]*results.Snapshot{{Sessions: results.Sessions{Timeout: 5 * s}}, {Sessions: results.Sessions{Timeout: 4 * s}}, {}},
			[]string{"sessions of the load asked for a time-out of 30s; the members granted 4s"},
		},
		"rules that were not checked": {
			[]*results.Snapshot{unwatched, {Unwatched: map[spec.GuardRule]string{spec.GuardWALFsync: "b"}}},
			[]string{"could never check its rule Alarm: c", "could not always check its rule WALFsync: a"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Warnings(runtest.Puts(), results.Summarize(tc.pods))
			ok := slices.EqualFunc(tc.want, got, func(part, warning string) bool {
				return strings.Contains(warning, part) && len(warning) <= text.MaxBytes
			})
			if !ok {
				t.Errorf("got %q, wanted %q in them", got, tc.want)
			}
		})
	}
}

// The reasons are also reported if there are no objectives.
func TestMissingObservationsAreWarnings(t *testing.T) {
	s := &results.Snapshot{RunUID: "a", Target: &results.Target{Unlisted: "no majority", Notes: []string{"a note"}, Unlocked: true, Skipped: map[string]string{"etcd-1:2379": "refuses connections"}, Unobserved: map[results.Aspect]string{results.AspectVersion: "no answer"}}}
	got := strings.Join(Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{s})), "\n")
	for _, part := range []string{"no majority", "a note", "no lock", "sent it no load: etcd-1:2379 (refuses connections)", "Version", "no answer"} {
		if !strings.Contains(got, part) {
			t.Errorf("warnings %q do not contain %q", got, part)
		}
	}
}

// A member that a load balancer reached got load. One that it did not reach is not said to have no address.
func TestAnAddressOfSeveralMembersIsAWarning(t *testing.T) {
	s := &results.Snapshot{RunUID: "a", Target: &results.Target{
		Members:    []results.Member{{ID: "1", Name: "etcd-1", Endpoint: "lb:1"}, {ID: "2", Name: "etcd-2"}, {ID: "3", Name: "etcd-3"}},
		AnsweredBy: map[string][]string{"lb:1": {"2", "9"}},
	}}
	got := strings.Join(Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{s})), "\n")
	if !strings.Contains(got, "lb:1 (etcd-1, etcd-2, 9)") || strings.Contains(got, "got no load") {
		t.Errorf("got %q", got)
	}
}

// Keys of earlier runs may have been deleted in the window.
func TestKeysOfEarlierRunsAreAWarning(t *testing.T) {
	for undeleted, want := range map[int32]bool{0: false, 2: true} {
		b := runtest.Puts()
		b.Status.Admission = &v1alpha1.Admission{Undeleted: undeleted}
		got := Warnings(b, results.Summarize([]*results.Snapshot{{RunUID: "a"}}))
		if found := slices.ContainsFunc(got, func(w string) bool { return strings.Contains(w, "earlier runs") && strings.Contains(w, "(2 of them)") }); found != want {
			t.Errorf("%d runs with keys: got %q", undeleted, got)
		}
	}
}

func TestALogInMemoryIsAWarning(t *testing.T) {
	flushed := func(times, millis float64) *results.MemberWindow {
		return runtest.Flushed(0, took(results.TimerWALFsync, times, millis))
	}
	for name, tc := range map[string]struct {
		window *results.MemberWindow
		want   bool
	}{
		"in memory":            {flushed(1000, 0.001), true},
		"on a disk":            {flushed(1000, 0.005), false},
		"too few observations": {flushed(29, 0.001), false},
	} {
		all := Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(tc.window))}))
		if got := strings.Contains(strings.Join(all, " "), "the data lies in memory"); got != tc.want {
			t.Errorf("%s: got the warnings %q", name, all)
		}
	}
}

func TestEachProblemOfAWatchIsAWarning(t *testing.T) {
	tests := map[string]struct {
		watch results.Watch
		want  []string
	}{
		"none":      {results.Watch{Watchers: 1, Expected: 10}, nil},
		"missed":    {results.Watch{Expected: 10, Missed: 4}, []string{"missed 4 of 10"}},
		"duplicate": {results.Watch{Duplicate: 3}, []string{"3 events twice"}},
		"cancelled": {results.Watch{Cancelled: 2}, []string{"cancelled watchers 2 times, and client pods opened them again"}},
		"resumed":   {results.Watch{Resumed: 7}, []string{"resumed 7 times"}},
		"compacted": {results.Watch{Replays: 7, CompactedAfter: 2500 * time.Millisecond}, []string{"they stopped reading 2.5s after the start of the window"}},
		"replayed":  {results.Watch{Replays: 7}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := pod(0, time.Second, 10)
			s.Watch = tc.watch
			got := Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{s}))
			if len(got) != len(tc.want) {
				t.Fatalf("got the warnings %q, wanted %d", got, len(tc.want))
			}
			for i := range got {
				if !strings.Contains(got[i], tc.want[i]) {
					t.Errorf("got %q, wanted it to say %q", got[i], tc.want[i])
				}
			}
		})
	}
	missing := runtest.Measured(0, 100, runtest.Events(5))
	missing.Watch = results.Watch{Watchers: 1, Expected: 100, Missed: 5}
	if got := Warnings(runtest.Puts(), results.Summarize([]*results.Snapshot{missing})); len(got) != 1 {
		t.Errorf("missed events gave the warnings %q, wanted one", got)
	}
}

func TestMissingDisturbancesAreWarnings(t *testing.T) {
	never, always := results.Summary{Length: 2500 * time.Millisecond}, results.Summary{Disturbances: runtest.Compacted(3 * time.Second)}
	always.Disturbances[spec.DisturbanceDefragment] = &results.Disturbance{Count: 1}
	all := results.Summary{Disturbances: map[spec.DisturbanceType]*results.Disturbance{
		spec.DisturbanceCompact: {Count: 1}, spec.DisturbanceDefragment: {Count: 1, Failed: 1},
	}}
	for name, tc := range map[string]struct {
		summary results.Summary
		want    []string
	}{
		"none":     {never, []string{"no disturbance of type Compact: the first was due 3 s after", "of type Defragment: the first was due 4 s after"}},
		"left out": {always, []string{"3 disturbances of type Compact left out, because the previous one still ran: the longest took 2s, everySeconds is 3"}},
		"all":      {all, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tc.summary.Merged = &results.Snapshot{}
			got := Warnings(runtest.Puts(runtest.Disturbed), tc.summary)
			if len(got) != len(tc.want) {
				t.Fatalf("got the warnings %q, wanted %d", got, len(tc.want))
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("got the warning %q, wanted %q in it", got[i], want)
				}
			}
		})
	}
}
