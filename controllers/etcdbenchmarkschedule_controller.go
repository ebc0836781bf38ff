package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/history"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/schedule"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarkschedules,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarkschedules/status,verbs=patch
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarkschedules/finalizers,verbs=update
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarksuites,verbs=create;delete

const (
	// parallelSchedules is how many schedules are reconciled at a time.
	parallelSchedules = 2
	scheduleKind      = "EtcdBenchmarkSchedule"
)

// EtcdBenchmarkScheduleReconciler creates the EtcdBenchmarkSuites of schedules, one at a time, and keeps the history of
// their numbers. A suite that was created and not recorded is found by its owner, so a restart neither repeats nor loses
// a session.
type EtcdBenchmarkScheduleReconciler struct {
	// Client reads schedules and suites from its cache; it also writes.
	Client client.Client
	// APIReader reads what must be up to date.
	APIReader client.Reader
	Recorder  events.EventRecorder
	Clock     clock.PassiveClock
}

// NewEtcdBenchmarkScheduleReconciler returns a reconciler that uses the manager's clients.
func NewEtcdBenchmarkScheduleReconciler(m ctrl.Manager) *EtcdBenchmarkScheduleReconciler {
	return &EtcdBenchmarkScheduleReconciler{
		Client: m.GetClient(), APIReader: m.GetAPIReader(), Recorder: m.GetEventRecorder(string(fieldOwner)), Clock: clock.RealClock{},
	}
}

// SetupWithManager registers the reconciler with the manager.
func (r *EtcdBenchmarkScheduleReconciler) SetupWithManager(m ctrl.Manager, options controller.Options) error {
	options.MaxConcurrentReconciles = parallelSchedules
	options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)
	return ctrl.NewControllerManagedBy(m).
		Named("etcdbenchmarkschedule").
		For(&v1alpha1.EtcdBenchmarkSchedule{}).
		Owns(&v1alpha1.EtcdBenchmarkSuite{}).
		WithOptions(options).
		Complete(r)
}

// Reconcile takes one schedule one step further: it records the session that has ended, or starts the one that is due. A
// schedule that is being deleted needs no action: Kubernetes deletes its suites.
func (r *EtcdBenchmarkScheduleReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	sch := &v1alpha1.EtcdBenchmarkSchedule{}
	if err := r.Client.Get(ctx, request.NamespacedName, sch); err != nil || sch.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := sch.DeepCopy()
	step := &scheduleStep{EtcdBenchmarkScheduleReconciler: r, EtcdBenchmarkSchedule: sch, now: r.Clock.Now()}
	wait, stepErr := step.take(ctx)
	sch.Status.ObservedGeneration = sch.Generation
	err := r.writeStatus(ctx, sch, before)
	if err == nil && stepErr == nil {
		for _, note := range step.notes {
			emit(r.Recorder, sch, note.bad, note.reason, note.text)
		}
	}
	return requeueAfter(lifecycle.Decision{Requeue: wait}, errors.Join(err, stepErr))
}

// scheduleStep is one step of one schedule.
type scheduleStep struct {
	*EtcdBenchmarkScheduleReconciler
	*v1alpha1.EtcdBenchmarkSchedule
	now time.Time
	// notes become events when the step is in status.
	notes []scheduleNote
}

type scheduleNote struct {
	reason, text string
	bad          bool
}

// take returns how long to wait for the next start; 0 if another event triggers the next step.
func (s *scheduleStep) take(ctx context.Context) (time.Duration, error) {
	s.observe()
	if s.Status.Active != "" {
		return 0, s.track(ctx)
	}
	// An acknowledgement or another tolerance can change the judgement.
	if s.Generation != s.Status.ObservedGeneration {
		history.Judge(s.EtcdBenchmarkSchedule, s.now)
	}
	if err := s.discard(ctx); err != nil {
		return 0, err
	}
	if adopted, err := s.adopt(ctx); adopted || err != nil {
		return 0, err
	}
	times, err := schedule.Parse(s.Spec.Schedule, s.Spec.TimeZone)
	if err == nil {
		err = history.Check(s.EtcdBenchmarkSchedule)
	}
	if err != nil {
		s.Status.NextScheduleTime = nil
		s.stall(v1alpha1.ReasonInvalidSchedule, "No session can start: "+err.Error())
		return 0, nil
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionStalled); c != nil && c.Reason == v1alpha1.ReasonInvalidSchedule {
		meta.RemoveStatusCondition(&s.Status.Conditions, v1alpha1.ConditionStalled)
	}
	return s.start(ctx, times)
}

// observe records a change of the times. Starts of the new times before the change are not made up for.
func (s *scheduleStep) observe() {
	seen := text.Shorten(fmt.Sprintf("%s %s suspend=%v", s.Spec.Schedule, s.Spec.TimeZone, s.Spec.Suspend), maxObserved)
	if s.Status.ObservedSchedule != "" && s.Status.ObservedSchedule != seen {
		s.Status.ScheduledFrom = &metav1.Time{Time: s.now.Truncate(time.Second)}
	}
	s.Status.ObservedSchedule = seen
}

// maxObserved is the length of status.observedSchedule.
const maxObserved = 200

// from is the time after which a start is due.
func (s *scheduleStep) from() time.Time {
	from := s.CreationTimestamp.Time
	for _, t := range []*metav1.Time{s.Status.LastScheduleTime, s.Status.ScheduledFrom} {
		if t != nil && t.After(from) {
			from = t.Time
		}
	}
	return from
}

// adopt records a suite that an operator has created before it was terminated. The schedule may have changed since, and may
// not be valid any more.
func (s *scheduleStep) adopt(ctx context.Context) (adopted bool, err error) {
	found, err := s.unrecorded(ctx)
	if found != nil {
		s.activate(found.Name, history.TemplateID(found.Spec), startOf(s.EtcdBenchmarkSchedule, found.Name))
	}
	return found != nil, err
}

// start creates the suite of the session that is due, if there is one.
func (s *scheduleStep) start(ctx context.Context, times schedule.Times) (time.Duration, error) {
	s.Status.NextScheduleTime = nil
	if s.Spec.Suspend {
		return 0, nil
	}
	deadline := time.Duration(0)
	if seconds := s.Spec.StartingDeadlineSeconds; seconds != nil {
		deadline = time.Duration(*seconds) * time.Second
	}
	due := times.Due(s.from(), s.now, deadline)
	s.Status.NextScheduleTime = &metav1.Time{Time: due.Next}
	confirming := history.Confirms(s.EtcdBenchmarkSchedule)
	switch {
	case confirming:
		if !due.Start.IsZero() {
			s.missed(due.Missed+1, "a session starts at once, to confirm that the last one was worse")
		}
		return 0, s.create(ctx, s.now.Truncate(time.Second), true)
	case due.Start.IsZero():
		if due.Missed > 0 {
			s.missed(due.Missed, "the operator was away, or a session went on for too long, and startingDeadlineSeconds has passed")
			s.Status.ScheduledFrom = &metav1.Time{Time: s.now.Truncate(time.Second)}
		}
		return max(due.Next.Sub(s.now), time.Millisecond), nil
	case due.Missed > 0:
		s.missed(due.Missed, "a later one starts instead")
	}
	return 0, s.create(ctx, due.Start, false)
}

// activate records that a session goes on.
func (s *scheduleStep) activate(name, template string, start time.Time) {
	s.Status.Active, s.Status.ActiveTemplate = name, template
	s.Status.LastScheduleTime = &metav1.Time{Time: start.Truncate(time.Second)}
}

func (s *scheduleStep) missed(n int, why string) {
	many := text.Grouped(n)
	if n >= schedule.MaxMissed {
		many += " or more"
	}
	s.notes = append(s.notes, scheduleNote{"SessionsMissed", fmt.Sprintf("Sessions that did not start: %s, because %s.", many, why), true})
}

// create creates the suite of a session. Its name has the minute of its start, so an attempt that is repeated finds it.
func (s *scheduleStep) create(ctx context.Context, start time.Time, confirming bool) error {
	child := &v1alpha1.EtcdBenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, Name: nameOfSession(s.EtcdBenchmarkSchedule, start, confirming), Labels: map[string]string{v1alpha1.LabelSchedule: s.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s.EtcdBenchmarkSchedule, v1alpha1.GroupVersion.WithKind(scheduleKind))},
		},
		Spec: *s.Spec.SuiteTemplate.Spec.DeepCopy(),
	}
	// A suite must not be created from an old state of the schedule: it may have ended and been deleted since.
	fresh := &v1alpha1.EtcdBenchmarkSchedule{}
	if err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(s.EtcdBenchmarkSchedule), fresh); err != nil {
		return client.IgnoreNotFound(err)
	}
	if fresh.ResourceVersion != s.ResourceVersion || fresh.DeletionTimestamp != nil {
		return errStale
	}
	name := child.Name
	err := s.Client.Create(ctx, child, fieldOwner)
	switch {
	case err == nil:
		if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionStalled); c != nil && c.Reason == v1alpha1.ReasonRefused {
			meta.RemoveStatusCondition(&s.Status.Conditions, v1alpha1.ConditionStalled)
		}
		s.activate(name, history.TemplateID(s.Spec.SuiteTemplate.Spec), start)
		s.notes = append(s.notes, scheduleNote{"SessionStarted", "The suite " + name + " was created.", false})
	case apierrors.IsAlreadyExists(err), apierrors.IsInvalid(err), apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		s.stall(v1alpha1.ReasonRefused, fmt.Sprintf("The session %s did not start, because the API server refused its suite: %v", name, err))
		s.activate(name, history.TemplateID(s.Spec.SuiteTemplate.Spec), start)
		s.record(nil, v1alpha1.ReasonRefused)
	default:
		return err
	}
	return nil
}

// record adds the active session to the history.
func (s *scheduleStep) record(ended *v1alpha1.EtcdBenchmarkSuite, reason string) {
	session := history.Of(s.EtcdBenchmarkSchedule, ended)
	session.Confirming = strings.HasSuffix(session.Name, confirmingSuffix)
	if reason != "" {
		session.Reason = reason
	}
	s.Status.Active, s.Status.ActiveTemplate = "", ""
	if !slices.ContainsFunc(s.Status.Sessions, func(o v1alpha1.ScheduleSession) bool { return o.Name == session.Name }) {
		history.Add(s.EtcdBenchmarkSchedule, session, ended)
	}
	history.Judge(s.EtcdBenchmarkSchedule, s.now)
	if ended == nil {
		return
	}
	if problem := meta.FindStatusCondition(ended.Status.Conditions, v1alpha1.ConditionStalled); problem != nil {
		s.stall(problem.Reason, "The session "+session.Name+" could not run as planned: "+problem.Message)
	} else {
		meta.RemoveStatusCondition(&s.Status.Conditions, v1alpha1.ConditionStalled)
	}
}

// nameOfSession is the schedule's name and the minute of the start since 1970; that of a confirming session has a c.
func nameOfSession(sch *v1alpha1.EtcdBenchmarkSchedule, start time.Time, confirming bool) string {
	name := fmt.Sprintf("%s-%d", sch.Name, start.Unix()/60)
	if confirming {
		name += confirmingSuffix
	}
	return name
}

const confirmingSuffix = "c"

// startOf is the start that a name says, to the minute.
func startOf(sch *v1alpha1.EtcdBenchmarkSchedule, name string) time.Time {
	minutes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(name, sch.Name+"-"), confirmingSuffix), 10, 64)
	return time.Unix(60*minutes, 0)
}

// unrecorded returns the suite of the schedule that is not in its history; nil if there is none.
func (s *scheduleStep) unrecorded(ctx context.Context) (*v1alpha1.EtcdBenchmarkSuite, error) {
	list := &v1alpha1.EtcdBenchmarkSuiteList{}
	if err := s.APIReader.List(ctx, list, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelSchedule: s.Name}); err != nil {
		return nil, err
	}
	for i, child := range list.Items {
		// The suites of old sessions may be kept longer than their place in the history.
		newer := s.Status.LastScheduleTime == nil || !startOf(s.EtcdBenchmarkSchedule, child.Name).Before(s.Status.LastScheduleTime.Truncate(time.Minute))
		if isOwnedBy(&child, s.UID, scheduleKind) && !s.isRecorded(child.Name) && newer {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

func (s *scheduleStep) isRecorded(name string) bool {
	return slices.ContainsFunc(s.Status.Sessions, func(o v1alpha1.ScheduleSession) bool { return o.Name == name })
}

// track follows the session that goes on, and records it when it has ended. A suite that is being deleted goes on until
// it is gone.
func (s *scheduleStep) track(ctx context.Context) error {
	child := &v1alpha1.EtcdBenchmarkSuite{}
	key := client.ObjectKey{Namespace: s.Namespace, Name: s.Status.Active}
	err := s.Client.Get(ctx, key, child)
	if apierrors.IsNotFound(err) {
		// The cache may not have it yet.
		err = s.APIReader.Get(ctx, key, child)
	}
	switch {
	case client.IgnoreNotFound(err) != nil:
		return err
	case err != nil || !isOwnedBy(child, s.UID, scheduleKind):
		s.record(nil, "")
	case child.DeletionTimestamp == nil && meta.IsStatusConditionTrue(child.Status.Conditions, v1alpha1.ConditionFinished):
		s.record(child, "")
	}
	return nil
}

// discard deletes the suites of sessions that the schedule does not keep. Their numbers are in status. A suite that may
// have left keys stays: its runs have their prefix.
func (s *scheduleStep) discard(ctx context.Context) error {
	list := &v1alpha1.EtcdBenchmarkSuiteList{}
	if err := s.Client.List(ctx, list, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelSchedule: s.Name}); err != nil {
		return err
	}
	keep := history.Kept(s.EtcdBenchmarkSchedule)
	for _, child := range list.Items {
		last := s.Status.LastScheduleTime
		isOld := s.isRecorded(child.Name) || last != nil && startOf(s.EtcdBenchmarkSchedule, child.Name).Before(last.Truncate(time.Minute))
		if keep[child.Name] || !isOld || child.DeletionTimestamp != nil || !isOwnedBy(&child, s.UID, scheduleKind) ||
			meta.IsStatusConditionFalse(child.Status.Conditions, v1alpha1.ConditionCleaned) {
			continue
		}
		if err := s.Client.Delete(ctx, &child, client.Preconditions{UID: &child.UID}); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func (s *scheduleStep) stall(reason, message string) {
	c := metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: text.Shorten(message, text.MaxBytes)}
	benchmark.SetCondition(&s.Status.Conditions, c, s.Generation, s.now)
}

// writeStatus writes a status that has changed.
func (r *EtcdBenchmarkScheduleReconciler) writeStatus(ctx context.Context, sch, before *v1alpha1.EtcdBenchmarkSchedule) error {
	if equality.Semantic.DeepEqual(sch.Status, before.Status) {
		return nil
	}
	if _, err := patchStatus(ctx, r.Client, sch, before); err != nil {
		return client.IgnoreNotFound(err)
	}
	kinds := []string{v1alpha1.ConditionSuspect, v1alpha1.ConditionTrendBroken, v1alpha1.ConditionStalled}
	announceKinds(ctx, r.Recorder, sch, kinds, before.Status.Conditions, sch.Status.Conditions, false)
	return nil
}
