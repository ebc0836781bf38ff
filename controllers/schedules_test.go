package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// scheduleHarness is a namespace with one schedule. The test plays the controller of suites, and moves the clock.
type scheduleHarness struct {
	t        *testing.T
	api      client.Client
	schedule *v1alpha1.EtcdBenchmarkSchedule
	clock    *clocktesting.FakePassiveClock
	stop     func()
	pokes    int
}

// newScheduleHarness starts a controller of schedules and creates a schedule that starts each day at 03:00.
func newScheduleHarness(t *testing.T, changes ...func(*v1alpha1.EtcdBenchmarkSchedule)) *scheduleHarness {
	t.Helper()
	t.Parallel()
	h := &scheduleHarness{t: t, api: cluster.api, schedule: &v1alpha1.EtcdBenchmarkSchedule{}, clock: clocktesting.NewFakePassiveClock(time.Now())}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "schedule-"}}
	h.must(h.api.Create(t.Context(), ns))
	h.schedule.Namespace, h.schedule.Name = ns.Name, "nightly"
	h.schedule.Spec.Schedule = "0 3 * * *"
	h.schedule.Spec.SuiteTemplate.Spec = v1alpha1.EtcdBenchmarkSuiteSpec{
		Targets:   []v1alpha1.SuiteTarget{{Name: "etcd", Target: v1alpha1.Target{Endpoints: []string{"http://127.0.0.1:2379"}}}},
		Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}}}},
		Loads:     []v1alpha1.SuiteLoad{{Name: "c1", Load: spec.Load{Requests: new(int64(100))}}},
	}
	for _, change := range changes {
		change(h.schedule)
	}
	h.restart()
	h.must(h.api.Create(t.Context(), h.schedule))
	return h
}

func (h *scheduleHarness) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// restart ends the controller, if it is running, and starts another one. The functions change its client.
func (h *scheduleHarness) restart(changes ...func(*EtcdBenchmarkScheduleReconciler)) {
	h.t.Helper()
	if h.stop != nil {
		h.stop()
	}
	m, err := ctrl.NewManager(cluster.config, ctrl.Options{
		Scheme: cluster.scheme, Cache: CacheOptions([]string{h.schedule.Namespace}), Metrics: metricsserver.Options{BindAddress: "0"},
	})
	h.must(err)
	r := NewEtcdBenchmarkScheduleReconciler(m)
	r.Clock = h.clock
	for _, change := range changes {
		change(r)
	}
	h.must(r.SetupWithManager(m, controller.Options{SkipNameValidation: new(true)}))
	h.stop = runManager(h.t, m)
}

func (h *scheduleHarness) status() v1alpha1.EtcdBenchmarkScheduleStatus {
	h.t.Helper()
	h.must(h.api.Get(h.t.Context(), client.ObjectKeyFromObject(h.schedule), h.schedule))
	return h.schedule.Status
}

func (h *scheduleHarness) await(what string, holds func() bool) {
	h.t.Helper()
	err := wait.PollUntilContextTimeout(h.t.Context(), poll, maxWait, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		h.t.Fatalf("wanted %s within %s, found status %+v", what, maxWait, h.status())
	}
}

// change changes the schedule, and waits until the controller has seen it.
func (h *scheduleHarness) change(f func(*v1alpha1.EtcdBenchmarkSchedule)) {
	h.t.Helper()
	h.status()
	before := h.schedule.DeepCopy()
	f(h.schedule)
	h.must(h.api.Patch(h.t.Context(), h.schedule, client.MergeFrom(before)))
	h.await("the change to be seen", func() bool { return h.status().ObservedGeneration == h.schedule.Generation })
}

// moveTo sets the clock, and wakes the controller.
func (h *scheduleHarness) moveTo(now time.Time) {
	h.t.Helper()
	h.clock.SetTime(now)
	h.status()
	before := h.schedule.DeepCopy()
	h.pokes++
	h.schedule.Annotations = map[string]string{"poke": fmt.Sprint(h.pokes)}
	h.must(h.api.Patch(h.t.Context(), h.schedule, client.MergeFrom(before)))
}

// nextDay waits until the controller waits, and moves the clock to its next start.
func (h *scheduleHarness) nextDay() {
	h.t.Helper()
	h.await("the next start", func() bool {
		s := h.status()
		return s.Active == "" && s.NextScheduleTime != nil && s.NextScheduleTime.After(h.clock.Now())
	})
	h.moveTo(h.schedule.Status.NextScheduleTime.Time)
}

// active waits for the suite of the session that goes on.
func (h *scheduleHarness) active() *v1alpha1.EtcdBenchmarkSuite {
	h.t.Helper()
	s := &v1alpha1.EtcdBenchmarkSuite{}
	h.await("an active suite", func() bool {
		name := h.status().Active
		return name != "" && h.api.Get(h.t.Context(), client.ObjectKey{Namespace: h.schedule.Namespace, Name: name}, s) == nil
	})
	return s
}

// finish plays the end of a suite with this throughput, and waits until it is in the history.
func (h *scheduleHarness) finish(s *v1alpha1.EtcdBenchmarkSuite, perSecond int64) {
	h.t.Helper()
	before := s.DeepCopy()
	now := metav1.Time{Time: h.clock.Now()}
	s.Status.CompletionTime = &now
	s.Status.Conditions = append(slices.DeleteFunc(s.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1alpha1.ConditionFinished }),
		metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted, LastTransitionTime: now})
	s.Status.Results = []v1alpha1.SuiteResult{{
		Name: s.Name + "-1-1", Cell: "put", Round: 1, Reason: v1alpha1.ReasonCompleted,
		Environment: v1alpha1.Environment{Client: "usual"},
		Operations:  []v1alpha1.SuiteOperation{{Operation: spec.OperationPut, Succeeded: 100, ThroughputMilliPerSecond: 1000 * perSecond}},
	}}
	h.must(h.api.Status().Patch(h.t.Context(), s, client.MergeFrom(before)))
	h.awaitSession(s.Name)
}

func (h *scheduleHarness) awaitSession(name string) (found v1alpha1.ScheduleSession) {
	h.t.Helper()
	h.await("the session "+name+" in the history", func() bool {
		for _, s := range h.status().Sessions {
			if s.Name == name {
				found = s
			}
		}
		return found.Name != ""
	})
	return found
}

func (h *scheduleHarness) suites() (names []string) {
	h.t.Helper()
	list := &v1alpha1.EtcdBenchmarkSuiteList{}
	h.must(h.api.List(h.t.Context(), list, client.InNamespace(h.schedule.Namespace)))
	for _, s := range list.Items {
		names = append(names, s.Name)
	}
	return names
}

func (h *scheduleHarness) awaitCondition(kind string, status metav1.ConditionStatus, reason string) {
	h.t.Helper()
	h.await(fmt.Sprintf("%s %s %s", kind, status, reason), func() bool {
		c := meta.FindStatusCondition(h.status().Conditions, kind)
		return c != nil && c.Status == status && c.Reason == reason
	})
}

// A session starts at its time and not before, and the next one not before it has ended.
func TestScheduleStartsSessions(t *testing.T) {
	h := newScheduleHarness(t)
	h.await("the next start", func() bool { return h.status().NextScheduleTime != nil })
	next := h.schedule.Status.NextScheduleTime.UTC()
	if next.Hour() != 3 || next.Minute() != 0 || len(h.suites()) != 0 {
		t.Fatalf("the next start is %s, and there are the suites %v", next, h.suites())
	}
	h.moveTo(next.Add(20 * time.Second))
	first := h.active()
	if first.Name != fmt.Sprintf("nightly-%d", next.Unix()/60) || !metav1.IsControlledBy(first, h.schedule) || first.Labels[v1alpha1.LabelSchedule] != "nightly" {
		t.Errorf("found %+v", first.ObjectMeta)
	}
	if got := h.status().LastScheduleTime; !got.Time.Equal(next) {
		t.Errorf("lastScheduleTime is %s, wanted %s", got, next)
	}
	// It goes on until after the next start.
	h.moveTo(next.Add(25 * time.Hour))
	h.finish(first, 1000)
	second := h.active()
	if want := fmt.Sprintf("nightly-%d", next.AddDate(0, 0, 1).Unix()/60); second.Name != want || len(h.suites()) != 2 {
		t.Errorf("the second session is %s of %v, wanted %s", second.Name, h.suites(), want)
	}
	h.finish(second, 1100)
	status := h.status()
	if len(status.Sessions) != 2 || len(status.Series) != 1 || fmt.Sprint(status.Series[0].Values) != "[1000000 1100000]" || status.LastSuccessfulTime == nil {
		t.Errorf("found %+v", status)
	}
	h.awaitCondition(v1alpha1.ConditionSuspect, metav1.ConditionUnknown, v1alpha1.ReasonTooFewSessions)
}

// lossySchedules loses some writes of a schedule's status, as an operator does that is terminated before them.
type lossySchedules struct {
	client.Client
	loses func(*v1alpha1.EtcdBenchmarkSchedule) bool
}

func (c lossySchedules) Status() client.SubResourceWriter {
	return lossyScheduleWriter{c.Client.Status(), c.loses}
}

type lossyScheduleWriter struct {
	client.SubResourceWriter
	loses func(*v1alpha1.EtcdBenchmarkSchedule) bool
}

func (w lossyScheduleWriter) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
	if s, is := o.(*v1alpha1.EtcdBenchmarkSchedule); is && w.loses(s) {
		return apierrors.NewServiceUnavailable("the operator is terminated here")
	}
	return w.SubResourceWriter.Patch(ctx, o, p, options...)
}

// A session that was created and not recorded is found again, also if another start is due meanwhile; a result that was
// not recorded is recorded once.
func TestScheduleSurvivesRestarts(t *testing.T) {
	h := newScheduleHarness(t)
	losing := func(loses func(*v1alpha1.EtcdBenchmarkSchedule) bool) func(*EtcdBenchmarkScheduleReconciler) {
		return func(r *EtcdBenchmarkScheduleReconciler) { r.Client = lossySchedules{r.Client, loses} }
	}
	h.await("the next start", func() bool { return h.status().NextScheduleTime != nil })
	h.restart(losing(func(s *v1alpha1.EtcdBenchmarkSchedule) bool { return s.Status.Active != "" }))
	h.nextDay()
	h.await("a suite", func() bool { return len(h.suites()) == 1 })
	if h.status().Active != "" {
		t.Fatal("the suite is in status")
	}
	h.moveTo(h.clock.Now().Add(30 * time.Hour))
	h.restart()
	first := h.active()
	if len(h.suites()) != 1 {
		t.Fatalf("found the suites %v, wanted the first one alone", h.suites())
	}
	lost := make(chan struct{}, 100)
	h.restart(losing(func(s *v1alpha1.EtcdBenchmarkSchedule) bool {
		if len(s.Status.Sessions) > 0 {
			lost <- struct{}{}
			return true
		}
		return false
	}))
	before := first.DeepCopy()
	first.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonStopped, LastTransitionTime: metav1.Now()}}
	h.must(h.api.Status().Patch(t.Context(), first, client.MergeFrom(before)))
	<-lost
	h.restart()
	if s := h.awaitSession(first.Name); s.Reason != v1alpha1.ReasonStopped {
		t.Errorf("found %+v", s)
	}
	second := h.active()
	if second.Name == first.Name || len(h.status().Sessions) != 1 {
		t.Errorf("found %s after %s, and %+v", second.Name, first.Name, h.status().Sessions)
	}
}

// A session that was created and not recorded is found again, also if the schedule has become invalid or is suspended.
func TestScheduleThatChangedDuringARestart(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.EtcdBenchmarkSchedule){
		"invalid":   func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.Schedule = "0 0 30 2 *" },
		"suspended": func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.Suspend = true },
	} {
		t.Run(name, func(t *testing.T) {
			h := newScheduleHarness(t)
			h.await("the next start", func() bool { return h.status().NextScheduleTime != nil })
			h.restart(func(r *EtcdBenchmarkScheduleReconciler) {
				r.Client = lossySchedules{r.Client, func(s *v1alpha1.EtcdBenchmarkSchedule) bool { return s.Status.Active != "" }}
			})
			h.nextDay()
			h.await("a suite", func() bool { return len(h.suites()) == 1 })
			h.stop()
			before := h.schedule.DeepCopy()
			change(h.schedule)
			h.must(h.api.Patch(t.Context(), h.schedule, client.MergeFrom(before)))
			h.restart()
			h.finish(h.active(), 1000)
		})
	}
}

// A suspect session starts another one at once. If that is worse, too, the trend is broken, until an acknowledgement.
func TestScheduleConfirmsASuspicion(t *testing.T) {
	h := newScheduleHarness(t, func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.HistoryLimit = 2 })
	// The first session may have left keys, so its suite stays.
	h.nextDay()
	first := h.active()
	before := first.DeepCopy()
	first.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonKeysLeft, LastTransitionTime: metav1.Now()}}
	h.must(h.api.Status().Patch(t.Context(), first, client.MergeFrom(before)))
	h.finish(first, 1001)
	for i := range 8 {
		h.nextDay()
		h.finish(h.active(), 1000+int64(i%3))
	}
	h.awaitCondition(v1alpha1.ConditionSuspect, metav1.ConditionFalse, v1alpha1.ReasonAsExpected)
	h.await("old suites to be deleted", func() bool { return len(h.suites()) == 3 })
	if !slices.Contains(h.suites(), first.Name) {
		t.Errorf("found %v, wanted that %s stays", h.suites(), first.Name)
	}
	h.nextDay()
	h.finish(h.active(), 800)
	confirming := h.active()
	if !strings.HasSuffix(confirming.Name, "c") {
		t.Fatalf("found the session %s, wanted a confirming one", confirming.Name)
	}
	h.awaitCondition(v1alpha1.ConditionSuspect, metav1.ConditionTrue, v1alpha1.ReasonWorse)
	h.restart()
	h.finish(confirming, 810)
	h.awaitCondition(v1alpha1.ConditionTrendBroken, metav1.ConditionTrue, v1alpha1.ReasonConfirmed)
	if s := h.status(); s.Active != "" || !s.Sessions[10].Confirming || s.Sessions[9].Confirming || s.Series[0].Expected == nil {
		t.Errorf("found %+v", s)
	}
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) {
		s.Spec.Acknowledgements = []v1alpha1.Acknowledgement{{Session: s.Status.Sessions[9].Name, Reason: "a slower disk"}}
	})
	h.awaitCondition(v1alpha1.ConditionTrendBroken, metav1.ConditionUnknown, v1alpha1.ReasonTooFewSessions)
	h.awaitCondition(v1alpha1.ConditionSuspect, metav1.ConditionUnknown, v1alpha1.ReasonTooFewSessions)
}

// After a time without an operator, at most one start is made up for.
func TestScheduleMakesUpForOneStart(t *testing.T) {
	h := newScheduleHarness(t)
	h.await("the next start", func() bool { return h.status().NextScheduleTime != nil })
	first := h.schedule.Status.NextScheduleTime.Time
	h.moveTo(first.Add(75 * time.Hour))
	s := h.active()
	if want := fmt.Sprintf("nightly-%d", first.Add(72*time.Hour).Unix()/60); s.Name != want || len(h.suites()) != 1 {
		t.Errorf("found %v, wanted %s", h.suites(), want)
	}
	// A late start must not begin after the deadline.
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.StartingDeadlineSeconds = new(int64(3600)) })
	h.moveTo(first.Add(98 * time.Hour))
	h.finish(s, 1000)
	h.await("the start after the one that is too late", func() bool {
		s := h.status()
		return s.NextScheduleTime != nil && s.NextScheduleTime.Time.Equal(first.Add(120*time.Hour)) && s.Active == ""
	})
	if len(h.suites()) != 1 {
		t.Errorf("found %v, wanted no start after the deadline", h.suites())
	}
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.Suspend = true })
	h.moveTo(first.Add(120 * time.Hour))
	h.await("no next start", func() bool { return h.status().NextScheduleTime == nil })
	if len(h.suites()) != 1 {
		t.Errorf("found %v, wanted none of a suspended schedule", h.suites())
	}
}

// What cannot run is said in the condition Stalled.
func TestScheduleThatCannotStart(t *testing.T) {
	h := newScheduleHarness(t, func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.Schedule = "0 0 30 2 *" })
	h.awaitCondition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSchedule)
	if c := meta.FindStatusCondition(h.status().Conditions, v1alpha1.ConditionStalled); !strings.Contains(c.Message, "0 0 30 2 *") {
		t.Errorf("found %+v, wanted that it names the schedule", c)
	}
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.Schedule = "0 3 * * *" })
	h.await("no Stalled", func() bool { return meta.FindStatusCondition(h.status().Conditions, v1alpha1.ConditionStalled) == nil })
	// The name of the next session is taken.
	h.await("the next start", func() bool { return h.status().NextScheduleTime != nil })
	taken := &v1alpha1.EtcdBenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{Namespace: h.schedule.Namespace, Name: fmt.Sprintf("nightly-%d", h.schedule.Status.NextScheduleTime.Unix()/60)},
		Spec:       h.schedule.Spec.SuiteTemplate.Spec,
	}
	h.must(h.api.Create(t.Context(), taken))
	h.nextDay()
	h.awaitCondition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRefused)
	if s := h.awaitSession(taken.Name); s.Reason != v1alpha1.ReasonRefused {
		t.Errorf("found %+v", s)
	}
	h.nextDay()
	s := h.active()
	if meta.FindStatusCondition(h.status().Conditions, v1alpha1.ConditionStalled) != nil {
		t.Error("wanted Stalled gone with the next session")
	}
	h.must(h.api.Delete(t.Context(), s))
	if got := h.awaitSession(s.Name); got.Reason != v1alpha1.ReasonDeleted {
		t.Errorf("found %+v, wanted a deleted session", got)
	}
	// A session whose runs could not do their load says so on the schedule, until the next one.
	h.nextDay()
	s = h.active()
	before := s.DeepCopy()
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidCell, Message: "the cell put", LastTransitionTime: metav1.Now()}}
	h.must(h.api.Status().Patch(t.Context(), s, client.MergeFrom(before)))
	h.finish(s, 1000)
	h.awaitCondition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidCell)
	h.nextDay()
	s = h.active()
	before = s.DeepCopy()
	s.Status.Conditions = nil
	h.must(h.api.Status().Patch(t.Context(), s, client.MergeFrom(before)))
	h.finish(s, 1000)
	h.await("no Stalled", func() bool { return meta.FindStatusCondition(h.status().Conditions, v1alpha1.ConditionStalled) == nil })
}

// Neither a stopped nor a deleted session takes the history away, and a suite that is being deleted still goes on.
func TestScheduleKeepsItsHistory(t *testing.T) {
	h := newScheduleHarness(t)
	h.nextDay()
	h.finish(h.active(), 1000)
	h.nextDay()
	stopped := h.active()
	before := stopped.DeepCopy()
	stopped.Spec.Stop = true
	h.must(h.api.Patch(t.Context(), stopped, client.MergeFrom(before)))
	h.finish(stopped, 900)
	h.nextDay()
	deleted := h.active()
	before = deleted.DeepCopy()
	deleted.Finalizers = []string{"example.org/hold"}
	h.must(h.api.Patch(t.Context(), deleted, client.MergeFrom(before)))
	h.must(h.api.Delete(t.Context(), deleted))
	// The next start comes while the suite is being deleted.
	h.moveTo(h.clock.Now().Add(25 * time.Hour))
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.HistoryLimit = 9 })
	if s := h.status(); s.Active != deleted.Name || len(h.suites()) != 3 {
		t.Errorf("found the active session %q and the suites %v, wanted that the deleted one goes on", s.Active, h.suites())
	}
	h.must(h.api.Get(t.Context(), client.ObjectKeyFromObject(deleted), deleted))
	before = deleted.DeepCopy()
	deleted.Finalizers = nil
	h.must(h.api.Patch(t.Context(), deleted, client.MergeFrom(before)))
	h.awaitSession(deleted.Name)
	h.finish(h.active(), 1100)
	if got := fmt.Sprint(h.status().Series[0].Values); got != "[1000000 900000 0 1100000]" {
		t.Errorf("found %s", got)
	}
}

// Other times, and a resumed schedule, start with the next of their times: none before the change is made up for.
func TestScheduleWithOtherTimes(t *testing.T) {
	h := newScheduleHarness(t)
	h.nextDay()
	h.finish(h.active(), 1000)
	noon := h.clock.Now().Add(9 * time.Hour)
	h.moveTo(noon)
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.Schedule = "0 11 * * *" })
	eleven := noon.Add(23 * time.Hour).Truncate(time.Hour)
	h.await("a start at 11:00 of the next day", func() bool {
		s := h.status()
		return s.NextScheduleTime != nil && s.NextScheduleTime.Time.Equal(eleven)
	})
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.Suspend = true })
	h.moveTo(eleven.Add(time.Hour))
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.Suspend = false })
	h.await("a start a day later", func() bool {
		s := h.status()
		return s.NextScheduleTime != nil && s.NextScheduleTime.Time.Equal(eleven.Add(24*time.Hour))
	})
	if len(h.suites()) != 1 {
		t.Errorf("found %v, wanted no start at once", h.suites())
	}
}

// A confirming session must have the template that it confirms.
func TestScheduleDoesNotConfirmAnotherTemplate(t *testing.T) {
	h := newScheduleHarness(t)
	for i := range 8 {
		h.nextDay()
		h.finish(h.active(), 1000+int64(i%3))
	}
	h.nextDay()
	s := h.active()
	h.change(func(s *v1alpha1.EtcdBenchmarkSchedule) { s.Spec.SuiteTemplate.Spec.Rounds = 2 })
	h.finish(s, 700)
	h.awaitCondition(v1alpha1.ConditionSuspect, metav1.ConditionTrue, v1alpha1.ReasonWorse)
	h.nextDay()
	if s := h.active(); strings.HasSuffix(s.Name, confirmingSuffix) || s.Spec.Rounds != 2 {
		t.Errorf("found the session %s, wanted none that confirms", s.Name)
	}
}
