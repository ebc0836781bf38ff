package controllers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarks,verbs=create;get;list;watch;patch;delete
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarksuites,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarksuites/status,verbs=patch
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarksuites/finalizers,verbs=update

// parallelSuites is how many suites are reconciled at a time.
const parallelSuites = 2

// EtcdBenchmarkSuiteReconciler creates the EtcdBenchmarks of suites, one after the other, and keeps their results. It
// does not load anything: the controller of EtcdBenchmarks runs them. What to do next follows from the suite's status
// alone, so a restart neither repeats nor loses a run.
type EtcdBenchmarkSuiteReconciler struct {
	// Client reads suites and runs from its cache; it also writes.
	Client client.Client
	// APIReader reads what must be up to date.
	APIReader client.Reader
	Recorder  events.EventRecorder
	Clock     clock.PassiveClock
}

// NewEtcdBenchmarkSuiteReconciler returns a reconciler that uses the manager's clients.
func NewEtcdBenchmarkSuiteReconciler(m ctrl.Manager) *EtcdBenchmarkSuiteReconciler {
	return &EtcdBenchmarkSuiteReconciler{
		Client: m.GetClient(), APIReader: m.GetAPIReader(), Recorder: m.GetEventRecorder(string(fieldOwner)), Clock: clock.RealClock{},
	}
}

// SetupWithManager registers the reconciler with the manager.
func (r *EtcdBenchmarkSuiteReconciler) SetupWithManager(m ctrl.Manager, options controller.Options) error {
	options.MaxConcurrentReconciles = parallelSuites
	options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)
	return ctrl.NewControllerManagedBy(m).
		Named("etcdbenchmarksuite").
		For(&v1alpha1.EtcdBenchmarkSuite{}).
		Owns(&v1alpha1.EtcdBenchmark{}).
		WithOptions(options).
		Complete(r)
}

// Reconcile takes one suite one step further. Each step writes status at most once; the write triggers the next step. A
// suite that is being deleted needs no action: Kubernetes deletes its runs, and each run ends in order.
func (r *EtcdBenchmarkSuiteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	s := &v1alpha1.EtcdBenchmarkSuite{}
	if err := r.Client.Get(ctx, request.NamespacedName, s); err != nil || s.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := s.DeepCopy()
	stepErr := r.step(ctx, s)
	s.Status.ObservedGeneration = s.Generation
	err := r.writeStatus(ctx, s, before)
	return requeueAfter(lifecycle.Decision{Requeue: suite.Rest(s, r.Clock.Now())}, errors.Join(err, stepErr))
}

func (r *EtcdBenchmarkSuiteReconciler) step(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) error {
	switch {
	case meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionFinished):
		return r.discard(ctx, s)
	case s.Status.StartTime == nil:
		return r.start(ctx, s)
	case s.Status.Current != "":
		return r.track(ctx, s)
	}
	if err := r.discard(ctx, s); err != nil {
		return err
	}
	return r.proceed(ctx, s)
}

// start checks the runs of all cells before the first one is created.
func (r *EtcdBenchmarkSuiteReconciler) start(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) error {
	now := r.Clock.Now()
	problem, message := suite.Check(s), "The suite is stopped before its first run."
	if problem == nil && !s.Spec.Stop {
		var err error
		if problem, err = r.keepBaseline(ctx, s); err != nil {
			suite.Continue(s, v1alpha1.StageChecking, explainWait("read the baseline", err), now)
			return err
		}
	}
	if problem == nil && !s.Spec.Stop {
		var unchecked []string
		var err error
		if unchecked, problem, err = r.checkCells(ctx, s); err != nil {
			suite.Continue(s, v1alpha1.StageChecking, explainWait("check the runs", err), now)
			return err
		}
		message = "The API server accepts the runs of all cells."
		if len(unchecked) > 0 {
			message = fmt.Sprintf("The API server cannot check %s before they run: %s. The operator's log has the reason.", text.Plural(len(unchecked), "cell"), strings.Join(unchecked, ", "))
		}
	}
	if problem != nil {
		suite.EndAsInvalid(s, problem.Error(), now)
		return nil
	}
	suite.Start(s, rand.Int64N(1<<31), now)
	suite.Continue(s, v1alpha1.StageRunning, message, now)
	return nil
}

// explainWait says why the operator tries again.
func explainWait(what string, err error) string {
	if w, is := errors.AsType[waiting](err); is {
		return fmt.Sprintf("The operator cannot %s yet, and tries again: %v.", what, w)
	}
	return fmt.Sprintf("The operator cannot %s now, and tries again. Its log has the error.", what)
}

// proceed creates the next run, or ends the suite.
func (r *EtcdBenchmarkSuiteReconciler) proceed(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) error {
	now := r.Clock.Now()
	// An operator that was terminated may have created the next run without recording it.
	if p, more := suite.Next(s); more {
		switch run, err := r.live(ctx, s, p.Name); {
		case err != nil:
			return err
		case run != nil && isOfSuite(run, s):
			suite.Created(s, p, now)
			return nil
		}
	}
	p, more := suite.Then(s, s.Spec.Stop)
	switch {
	case !more:
		suite.SetFinished(s, s.Spec.Stop, now)
		return nil
	case suite.Rest(s, now) > 0:
		return nil
	}
	switch problem, err := r.create(ctx, s, p); {
	case err != nil:
		if !errors.Is(err, errStale) {
			suite.Continue(s, v1alpha1.StageRunning, explainWait("create the run "+p.Name, err), now)
		}
		return err
	case problem != nil:
		suite.Refused(s, p, problem, now)
	default:
		suite.Created(s, p, now)
	}
	return nil
}

// track follows the current run.
func (r *EtcdBenchmarkSuiteReconciler) track(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) error {
	run := &v1alpha1.EtcdBenchmark{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Status.Current}, run)
	if apierrors.IsNotFound(err) || err == nil && run.HasFinished() {
		// The cache may not have it yet, and has no results of runs that have ended.
		run, err = r.live(ctx, s, s.Status.Current)
	}
	if err != nil {
		return err
	}
	if run != nil && !isOfSuite(run, s) {
		run = nil
	}
	if run != nil && s.Spec.Stop && !run.Spec.Stop && !run.HasFinished() {
		return r.stop(ctx, run)
	}
	suite.Track(s, run, r.Clock.Now())
	return nil
}

// discard deletes the last run if the suite does not keep it. Its result is in status.
func (r *EtcdBenchmarkSuiteReconciler) discard(ctx context.Context, s *v1alpha1.EtcdBenchmarkSuite) error {
	results := s.Status.Results
	if len(results) == 0 || suite.IsKept(s, results[len(results)-1]) {
		return nil
	}
	run := &v1alpha1.EtcdBenchmark{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: results[len(results)-1].Name}, run)
	if err != nil || !isOfSuite(run, s) || run.DeletionTimestamp != nil {
		return client.IgnoreNotFound(err)
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, run, client.Preconditions{UID: &run.UID}))
}

// writeStatus writes a status that has changed.
func (r *EtcdBenchmarkSuiteReconciler) writeStatus(ctx context.Context, s, before *v1alpha1.EtcdBenchmarkSuite) error {
	if equality.Semantic.DeepEqual(s.Status, before.Status) {
		return nil
	}
	if _, err := patchStatus(ctx, r.Client, s, before); err != nil {
		return client.IgnoreNotFound(err)
	}
	announceConditions(ctx, r.Recorder, s, before.Status.Conditions, s.Status.Conditions, before.Status.ObservedGeneration == 0)
	return nil
}
