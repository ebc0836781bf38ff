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
	sessions int
	in       v1alpha1.Environment
}

func newLong() *long {
	sch := nightly(func(sch *v1alpha1.EtcdBenchmarkSchedule) {
		sch.Spec.SuiteTemplate.Spec.Loads = sch.Spec.SuiteTemplate.Spec.Loads[:1]
	})
	return &long{EtcdBenchmarkSchedule: sch, random: rand.New(rand.NewPCG(1, 34)), in: v1alpha1.Environment{Client: "a"}}
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
			Operation: spec.OperationPut, Succeeded: 9, ThroughputMilliPerSecond: int64(1000 * perSecond * (1 + 0.005*l.random.NormFloat64())),
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
			l := newLong()
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

// The sessions that the alarms name are the first ones with the new numbers. Whoever acknowledges one is no longer alarmed,
// and what is expected of the next session stays as it was.
func TestTheNamedSessionIsTheFirstWorseOne(t *testing.T) {
	for after := 2; after <= 12; after++ {
		l := newLong()
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
