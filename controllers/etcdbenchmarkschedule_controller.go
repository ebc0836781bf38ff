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
	wait, stepErr := r.step(ctx, sch)
	sch.Status.ObservedGeneration = sch.Generation
	err := r.writeStatus(ctx, sch, before)
	return conclude(lifecycle.Decision{Requeue: wait}, errors.Join(err, stepErr))
}

// step returns how long to wait for the next start; 0 if another event triggers the next step.
func (r *EtcdBenchmarkScheduleReconciler) step(ctx context.Context, sch *v1alpha1.EtcdBenchmarkSchedule) (time.Duration, error) {
	if sch.Status.Active != "" {
		return 0, r.track(ctx, sch)
	}
	// An acknowledgement can change the judgement.
	if sch.Generation != sch.Status.ObservedGeneration {
		history.Judge(sch, r.Clock.Now())
	}
	if err := r.discard(ctx, sch); err != nil {
		return 0, err
	}
	times, err := schedule.Parse(sch.Spec.Schedule, sch.Spec.TimeZone)
	if err != nil {
		sch.Status.NextScheduleTime = nil
		r.stall(sch, v1alpha1.ReasonInvalidSchedule, "No session can start: "+err.Error())
		return 0, nil
	}
	if c := meta.FindStatusCondition(sch.Status.Conditions, v1alpha1.ConditionStalled); c != nil && c.Reason == v1alpha1.ReasonInvalidSchedule {
		meta.RemoveStatusCondition(&sch.Status.Conditions, v1alpha1.ConditionStalled)
	}
	return r.start(ctx, sch, times)
}

// start creates the suite of the session that is due, if there is one.
func (r *EtcdBenchmarkScheduleReconciler) start(ctx context.Context, sch *v1alpha1.EtcdBenchmarkSchedule, times schedule.Times) (time.Duration, error) {
	// An operator that was terminated may have created a suite without recording it.
	switch unrecorded, err := r.unrecorded(ctx, sch); {
	case err != nil:
		return 0, err
	case unrecorded != nil:
		sch.Status.Active = unrecorded.Name
		r.scheduled(sch, startOf(sch, unrecorded.Name))
		return 0, nil
	}
	sch.Status.NextScheduleTime = nil
	if sch.Spec.Suspend {
		return 0, nil
	}
	now, deadline := r.Clock.Now(), time.Duration(0)
	if s := sch.Spec.StartingDeadlineSeconds; s != nil {
		deadline = time.Duration(*s) * time.Second
	}
	last := sch.CreationTimestamp.Time
	if sch.Status.LastScheduleTime != nil {
		last = sch.Status.LastScheduleTime.Time
	}
	due := times.Due(last, now, deadline)
	sch.Status.NextScheduleTime = &metav1.Time{Time: due.Next}
	confirming := history.Confirms(sch)
	if !confirming && due.Start.IsZero() {
		if due.Missed > 0 {
			r.missed(sch, due.Missed, "the operator was away, or a session went on for too long, and startingDeadlineSeconds has passed")
			sch.Status.LastScheduleTime = &metav1.Time{Time: now.Truncate(time.Second)}
		}
		return max(due.Next.Sub(now), time.Millisecond), nil
	}
	if confirming {
		due.Start = now.Truncate(time.Second)
	} else if due.Missed > 0 {
		r.missed(sch, due.Missed, "a later one starts instead")
	}
	return 0, r.create(ctx, sch, due.Start, confirming)
}

// scheduled records that a session has started. An older start is not due any more.
func (*EtcdBenchmarkScheduleReconciler) scheduled(sch *v1alpha1.EtcdBenchmarkSchedule, at time.Time) {
	if last := sch.Status.LastScheduleTime; last == nil || at.After(last.Time) {
		sch.Status.LastScheduleTime = &metav1.Time{Time: at.Truncate(time.Second)}
	}
}

func (r *EtcdBenchmarkScheduleReconciler) missed(sch *v1alpha1.EtcdBenchmarkSchedule, n int, why string) {
	many := text.Grouped(n)
	if n >= schedule.MaxMissed {
		many += " or more"
	}
	emit(r.Recorder, sch, true, "SessionsMissed", fmt.Sprintf("Sessions that did not start: %s, because %s.", many, why))
}

// create creates the suite of a session. Its name has the minute of its start, so an attempt that is repeated finds it.
func (r *EtcdBenchmarkScheduleReconciler) create(ctx context.Context, sch *v1alpha1.EtcdBenchmarkSchedule, start time.Time, confirming bool) error {
	s := &v1alpha1.EtcdBenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sch.Namespace, Name: nameOfSession(sch, start, confirming), Labels: map[string]string{v1alpha1.LabelSchedule: sch.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sch, v1alpha1.GroupVersion.WithKind(scheduleKind))},
		},
		Spec: *sch.Spec.SuiteTemplate.Spec.DeepCopy(),
	}
	// A suite must not be created from an old state of the schedule: it may have ended and been deleted since.
	fresh := &v1alpha1.EtcdBenchmarkSchedule{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(sch), fresh); err != nil {
		return client.IgnoreNotFound(err)
	}
	if fresh.ResourceVersion != sch.ResourceVersion || fresh.DeletionTimestamp != nil {
		return errStale
	}
	err := r.Client.Create(ctx, s, fieldOwner)
	switch {
	case err == nil:
		meta.RemoveStatusCondition(&sch.Status.Conditions, v1alpha1.ConditionStalled)
		sch.Status.Active = s.Name
		r.scheduled(sch, start)
		emit(r.Recorder, sch, false, "SessionStarted", "The suite "+s.Name+" was created.")
		return nil
	case apierrors.IsAlreadyExists(err), apierrors.IsInvalid(err), apierrors.IsForbidden(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		message := fmt.Sprintf("The session %s did not start, because the API server refused its suite: %v", s.Name, err)
		r.stall(sch, v1alpha1.ReasonRefused, message)
		r.scheduled(sch, start)
		session := v1alpha1.ScheduleSession{
			Name: s.Name, StartTime: metav1.Time{Time: start}, Reason: v1alpha1.ReasonRefused, Confirming: confirming, Template: history.TemplateID(sch.Spec.SuiteTemplate),
		}
		if !slices.ContainsFunc(sch.Status.Sessions, func(o v1alpha1.ScheduleSession) bool { return o.Name == s.Name }) {
			history.Add(sch, session, nil)
		}
		return nil
	}
	return err
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
func (r *EtcdBenchmarkScheduleReconciler) unrecorded(ctx context.Context, sch *v1alpha1.EtcdBenchmarkSchedule) (*v1alpha1.EtcdBenchmarkSuite, error) {
	list := &v1alpha1.EtcdBenchmarkSuiteList{}
	if err := r.APIReader.List(ctx, list, client.InNamespace(sch.Namespace), client.MatchingLabels{v1alpha1.LabelSchedule: sch.Name}); err != nil {
		return nil, err
	}
	for i, s := range list.Items {
		recorded := slices.ContainsFunc(sch.Status.Sessions, func(o v1alpha1.ScheduleSession) bool { return o.Name == s.Name })
		// The suites of old sessions may be kept longer than their place in the history.
		newer := sch.Status.LastScheduleTime == nil || !startOf(sch, s.Name).Before(sch.Status.LastScheduleTime.Truncate(time.Minute))
		if isOwnedBy(&s, sch.UID, scheduleKind) && !recorded && newer && s.DeletionTimestamp == nil {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// track follows the session that goes on, and records it when it has ended.
func (r *EtcdBenchmarkScheduleReconciler) track(ctx context.Context, sch *v1alpha1.EtcdBenchmarkSchedule) error {
	name := sch.Status.Active
	s := &v1alpha1.EtcdBenchmarkSuite{}
	key := client.ObjectKey{Namespace: sch.Namespace, Name: name}
	err := r.Client.Get(ctx, key, s)
	if apierrors.IsNotFound(err) {
		// The cache may not have it yet.
		err = r.APIReader.Get(ctx, key, s)
	}
	switch {
	case client.IgnoreNotFound(err) != nil:
		return err
	case err != nil || !isOwnedBy(s, sch.UID, scheduleKind):
		s = nil
	case s.DeletionTimestamp == nil && !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionFinished):
		return nil
	}
	session := v1alpha1.ScheduleSession{Name: name, StartTime: *sch.Status.LastScheduleTime, Reason: v1alpha1.ReasonDeleted}
	if s != nil {
		session = history.Of(s)
	}
	session.Confirming = strings.HasSuffix(name, confirmingSuffix)
	history.Add(sch, session, s)
	sch.Status.Active = ""
	history.Judge(sch, r.Clock.Now())
	return nil
}

// discard deletes the suites of sessions that the schedule does not keep. Their numbers are in status.
func (r *EtcdBenchmarkScheduleReconciler) discard(ctx context.Context, sch *v1alpha1.EtcdBenchmarkSchedule) error {
	for _, name := range history.Expendable(sch) {
		s := &v1alpha1.EtcdBenchmarkSuite{}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: sch.Namespace, Name: name}, s)
		if err == nil && s.DeletionTimestamp == nil && isOwnedBy(s, sch.UID, scheduleKind) {
			err = r.Client.Delete(ctx, s, client.Preconditions{UID: &s.UID})
		}
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func (r *EtcdBenchmarkScheduleReconciler) stall(sch *v1alpha1.EtcdBenchmarkSchedule, reason, message string) {
	c := metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: text.Shorten(message, text.MaxBytes)}
	benchmark.SetCondition(&sch.Status.Conditions, c, sch.Generation, r.Clock.Now())
}

// writeStatus writes only changes, and only if the schedule is unchanged since it was read.
func (r *EtcdBenchmarkScheduleReconciler) writeStatus(ctx context.Context, sch, before *v1alpha1.EtcdBenchmarkSchedule) error {
	if equality.Semantic.DeepEqual(sch.Status, before.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, sch.DeepCopy(), patch, fieldOwner); err != nil {
		return client.IgnoreNotFound(err)
	}
	kinds := []string{v1alpha1.ConditionSuspect, v1alpha1.ConditionTrendBroken, v1alpha1.ConditionStalled}
	announceKinds(ctx, r.Recorder, sch, kinds, before.Status.Conditions, sch.Status.Conditions, false)
	return nil
}
