package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// long is a schedule of one cell whose sessions have names of their own, however many there are.
type long struct {
	*v1alpha1.EtcdBenchmarkSchedule
	random   *rand.Rand
	spread   float64
	sessions int
	in       v1alpha1.Environment
}

func newLong(seed uint64, spread float64) *long {
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) {
		sch.Spec.SuiteTemplate.Spec.Loads = sch.Spec.SuiteTemplate.Spec.Loads[:1]
	})
	return &long{EtcdBenchmarkSchedule: sch, random: rand.New(rand.NewPCG(seed, 34)), spread: spread, in: v1alpha1.Environment{Client: "a"}}
}

// add adds sessions of about this throughput, and judges the history after the last one.
func (l *long) add(n int, perSecond float64) {
	for range n {
		session := v1alpha1.ScheduleSession{
			Name: fmt.Sprint("s", l.sessions), StartTime: metav1.Time{Time: now.AddDate(0, 0, l.sessions)}, Reason: v1alpha1.ReasonCompleted,
			Template: TemplateID(l.Spec.SuiteTemplate.Spec), Environment: l.in,
		}
		l.sessions++
		s := &v1alpha1.EtcdBenchmarkSuite{Spec: l.Spec.SuiteTemplate.Spec}
		s.Status.Results = []v1alpha1.SuiteResult{{Name: "put", Cell: "put", Round: 1, Reason: v1alpha1.ReasonCompleted, Operations: []v1alpha1.SuiteOperation{{
			Operation: spec.OperationPut, Succeeded: 9, ThroughputMilliPerSecond: int64(1000 * perSecond * (1 + l.spread*l.random.NormFloat64())),
		}}}}
		Add(l.EtcdBenchmarkSchedule, session, s)
	}
	l.judge()
}

func (l *long) judge() { Judge(l.EtcdBenchmarkSchedule, now) }

func (l *long) broken() string {
	c := meta.FindStatusCondition(l.Status.Conditions, v1alpha1.ConditionTrendBroken)
	return string(c.Status) + "/" + c.Reason
}

func (l *long) acknowledge(session string) {
	l.Spec.Acknowledgements = append(l.Spec.Acknowledgements, v1alpha1.Acknowledgement{Session: session, Reason: "known"})
	l.judge()
}

// A break stays until the numbers recover or it is acknowledged, also when the history has forgotten the sessions before it.
func TestABreakDoesNotHealByWaiting(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(l *long)
		want string
	}{
		"it stays":                       {func(l *long) { l.add(20, 700) }, moved},
		"it becomes worse":               {func(l *long) { l.add(20, 600) }, moved},
		"a part is undone":               {func(l *long) { l.add(20, 850) }, moved},
		"it is undone":                   {func(l *long) { l.add(20, 1000) }, unchanged},
		"it is acknowledged":             {func(l *long) { l.acknowledge("s60") }, unchanged},
		"a later one is acknowledged":    {func(l *long) { l.acknowledge(fmt.Sprint("s", l.sessions-30)) }, unchanged},
		"an earlier one is acknowledged": {func(l *long) { l.acknowledge("s59") }, moved},
		"another cell is acknowledged": {func(l *long) {
			l.Spec.Acknowledgements = []v1alpha1.Acknowledgement{{Session: "s60", Cell: "c100"}}
			l.judge()
		}, moved},
		"other processors": {func(l *long) {
			l.add(20, 700)
			for i := range l.Status.Sessions[100:] {
				l.Status.Sessions[100+i].Client = "b"
			}
			l.judge()
		}, moved},
		"behind a slower load generator": {func(l *long) {
			l.in.ClientBound, l.in.AddedPerMillion = true, 300_000
			l.add(20, 1000)
		}, moved},
		"another template": {func(l *long) {
			l.Spec.SuiteTemplate.Spec.Rounds = 2
			l.add(20, 700)
		}, unchanged},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLong(1, 0.005)
			l.add(60, 1000)
			l.add(3, 700)
			// The history has 200 sessions. At 191 after the break, it has just enough from before it.
			for _, more := range []int{127, 61, 1, 7, 1, 60} {
				l.add(more, 700)
				if got := l.broken(); got != moved {
					t.Fatalf("%d sessions after the break, TrendBroken is %s", l.sessions-60, got)
				}
			}
			if open := l.Status.Changes[0]; open.Session != "s60" || !open.Open || open.Before < 990_000 || open.Before > 1_010_000 {
				t.Errorf("found the change %+v", open)
			}
			tc.end(l)
			if got := l.broken(); got != tc.want {
				t.Errorf("TrendBroken is %s, wanted %s: %+v", got, tc.want, l.Status.Changes)
			}
		})
	}
}

// A small break in noisy numbers stays, too: which of the last sessions before it still show it is chance. It ends when the
// numbers recover, and when it is acknowledged.
func TestASmallBreakDoesNotHealByWaiting(t *testing.T) {
	for _, tc := range []struct {
		spread float64
		seed   uint64
	}{
		{0.045, 3}, {0.045, 9}, {0.045, 10}, {0.045, 15}, {0.05, 3}, {0.05, 9}, {0.05, 16}, {0.05, 18},
	} {
		l := newLong(tc.seed, tc.spread)
		l.add(60, 1000)
		l.add(120, 920)
		for _, more := range []int{60, 5, 1, 1, 1, 1, 1, 1, 10} {
			if l.add(more, 920); l.broken() != moved {
				t.Errorf("spread %v, seed %d: %d sessions after the break, TrendBroken is %s", tc.spread, tc.seed, l.sessions-60, l.broken())
			}
		}
		known := &long{EtcdBenchmarkSchedule: l.DeepCopy()}
		for _, c := range known.Status.Changes {
			known.acknowledge(c.Session)
		}
		if got := known.broken(); got != unchanged {
			t.Errorf("spread %v, seed %d: TrendBroken is %s once the break is acknowledged: %+v", tc.spread, tc.seed, got, known.Status.Changes)
		}
		if l.add(20, 1000); l.broken() != unchanged {
			t.Errorf("spread %v, seed %d: TrendBroken is %s once the numbers have recovered: %+v", tc.spread, tc.seed, l.broken(), l.Status.Changes)
		}
	}
}

// An open change that is not found now is judged by the sessions since then, and so is the next session.
func TestAnOpenChangeThatIsNotFound(t *testing.T) {
	l := newLong(1, 0.001)
	l.add(60, 1000)
	l.add(2, 900)
	since := l.Status.Sessions[60]
	l.Status.Changes = []v1alpha1.ScheduleChange{{
		Cell: "put", Metric: "Throughput", Session: since.Name, StartTime: since.StartTime, Template: since.Template, Environment: since.Environment,
		Before: 1_000_000, After: 900_000, Worse: true, Open: true,
	}}
	l.judge()
	if s := l.Status.Series[0]; l.broken() != moved || s.Verdict != v1alpha1.SeriesUnknown {
		t.Errorf("TrendBroken is %s, and the last session is %s: wanted a break with too few sessions since then", l.broken(), s.Verdict)
	}
}

// The level before a break is that of all sessions that were once before it, also when few of them are left.
func TestTheLevelBeforeABreakStays(t *testing.T) {
	l := newLong(1, 0.001)
	l.add(60, 1000)
	l.add(9, 980)
	l.add(130, 900)
	for _, more := range []int{50, 11} {
		if l.add(more, 900); len(l.Status.Changes) != 1 || l.Status.Changes[0].Session != "s69" || l.Status.Changes[0].Before < 990_000 {
			t.Errorf("after %d sessions, found %+v, wanted the break from 1,000/s", l.sessions, l.Status.Changes)
		}
	}
	if l.add(12, 940); l.broken() != moved {
		t.Errorf("TrendBroken is %s after a part is undone: %+v", l.broken(), l.Status.Changes)
	}
}

// A few bad sessions by chance can look like a break. When most sessions since then are as before, it ends.
func TestAFalseAlarmEnds(t *testing.T) {
	l := newLong(2, 0.03)
	l.add(60, 1000)
	for _, step := range []struct {
		sessions  int
		perSecond float64
		want      string
	}{
		{4, 800, moved}, {2, 1000, moved}, {4, 1000, unchanged}, {60, 1000, unchanged},
	} {
		if l.add(step.sessions, step.perSecond); l.broken() != step.want {
			t.Errorf("after %d sessions, TrendBroken is %s, wanted %s: %+v", l.sessions, l.broken(), step.want, l.Status.Changes)
		}
	}
}

// A break has one entry, however its place and its level before are estimated anew, and two breaks have two.
func TestOneEntryForEachBreak(t *testing.T) {
	open := func(l *long) (sessions []string) {
		for _, c := range l.Status.Changes {
			if c.Open {
				sessions = append(sessions, c.Session)
			}
		}
		return sessions
	}
	for seed := range uint64(3) {
		l := newLong(seed, 0.04)
		l.add(60, 1000)
		for range 10 {
			if l.add(4, 880); len(open(l)) > 1 {
				t.Errorf("seed %d: %d sessions after the break, the open changes are %v", seed, l.sessions-60, open(l))
			}
		}
		if l.add(30, 700); len(open(l)) != 2 {
			t.Errorf("seed %d: after a second break, the open changes are %v: %+v", seed, open(l), l.Status.Changes)
		}
	}
}

// The sessions that the alarms name are the first ones with the new numbers. Once one is acknowledged, there is no alarm, and
// what is expected of the next session stays as it was.
func TestTheNamedSessionIsTheFirstWorseOne(t *testing.T) {
	for after := 2; after <= 12; after++ {
		l := newLong(1, 0.005)
		l.add(60, 1000)
		l.add(after, 700)
		c := meta.FindStatusCondition(l.Status.Conditions, v1alpha1.ConditionTrendBroken)
		if c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "the session s60") {
			t.Fatalf("%d sessions after the break: %s: %s", after, c.Status, c.Message)
		}
		expected := l.Status.Series[0].Expected
		isChange := slices.ContainsFunc(l.Status.Changes, func(c v1alpha1.ScheduleChange) bool { return c.Session == "s60" })
		l.acknowledge("s60")
		if got := l.broken(); !strings.HasSuffix(got, "/TooFewSessions") && !strings.HasSuffix(got, "/Unchanged") {
			t.Errorf("%d sessions after the break: TrendBroken is %s once it is acknowledged", after, got)
		}
		if isChange {
			if diff := cmp.Diff(expected, l.Status.Series[0].Expected); diff != "" {
				t.Errorf("%d sessions after the break, the acknowledgement changes what is expected (-before +after):\n%s", after, diff)
			}
		}
	}
}

// Many closed changes never push out an open one.
func TestOpenChangesAreKept(t *testing.T) {
	changes := slices.Repeat([]v1alpha1.ScheduleChange{{}}, v1alpha1.MaxChanges+5)
	changes[2].Open = true
	if kept := bounded(changes); len(kept) != v1alpha1.MaxChanges || !slices.ContainsFunc(kept, func(c v1alpha1.ScheduleChange) bool { return c.Open }) {
		t.Errorf("kept %d changes", len(kept))
	}
}
