package controllers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarks,verbs=get;list;watch;patch;delete;create-children
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarks/status,verbs=patch
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarks/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=get
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list
// +kubebuilder:rbac:groups="",resources=events,verbs=list;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// EtcdBenchmarkReconciler takes EtcdBenchmarks through their life.
type EtcdBenchmarkReconciler struct {
	// Client reads pods and Jobs of runs from its cache, and writes.
	Client client.Client
	// APIReader reads past the cache: the target's objects, and what must not
	// be out of date.
	APIReader client.Reader
	Recorder  events.EventRecorder
	Collector *collector.Collector
	Clock     clock.PassiveClock
	// ClientImage is the image of the client pods.
	ClientImage string
	// Namespaces that the operator works in; none means all.
	Namespaces []string
	// Caps are what any run may do.
	Caps Caps
	// Resolver looks up names that may lead to a control plane.
	Resolver Resolver

	// turn is held while a run asks whether it is its turn, until the answer is
	// in status: of two that ask, the second sees what became of the first.
	turn sync.Mutex
	// reports are those that could not be written yet.
	reports overdue
}

// NewEtcdBenchmarkReconciler returns a reconciler that works with what the
// manager has, and starts client pods from this image.
func NewEtcdBenchmarkReconciler(m ctrl.Manager, clientImage string) *EtcdBenchmarkReconciler {
	return &EtcdBenchmarkReconciler{
		Client:      m.GetClient(),
		APIReader:   m.GetAPIReader(),
		Recorder:    m.GetEventRecorder(string(fieldOwner)),
		Collector:   collector.New(nil),
		Clock:       clock.RealClock{},
		ClientImage: clientImage,
		Resolver:    net.DefaultResolver,
	}
}

// conflictPause lets the cache catch up with what it was found to be behind of.
const conflictPause = 50 * time.Millisecond

// errStale says that what was read is out of date; the next reconcile sees more.
var errStale = errors.New("the cache is behind the API server")

// Reconcile takes one run one step further, or two where a start was chosen: it
// would pass while other runs have their turn, and had to be chosen anew.
func (r *EtcdBenchmarkReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	run := &v1alpha1.EtcdBenchmark{}
	if err := r.Client.Get(ctx, request.NamespacedName, run); err != nil {
		if apierrors.IsNotFound(err) {
			r.Collector.Forget(request.NamespacedName)
			r.reports.forget(request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if lifecycle.AwaitsTurn(run) {
		r.turn.Lock()
		defer r.turn.Unlock()
	}
	decision, err := r.step(ctx, run)
	if err == nil && decision.StartAt != nil {
		decision, err = r.step(ctx, run)
	}
	return conclude(decision, err)
}

// step returns what it has decided and done; run is then as it was written.
func (r *EtcdBenchmarkReconciler) step(ctx context.Context, run *v1alpha1.EtcdBenchmark) (lifecycle.Decision, error) {
	observed, err := r.observe(ctx, run)
	if err != nil {
		return lifecycle.Decision{}, fmt.Errorf("observing %s: %w", client.ObjectKeyFromObject(run), err)
	}
	now := r.Clock.Now()
	decision := lifecycle.Decide(observed, now)
	return decision, r.proceed(ctx, observed, decision, now)
}

// proceed acts, writes status once, also when an action failed, and announces.
func (r *EtcdBenchmarkReconciler) proceed(ctx context.Context, o lifecycle.Observed, d lifecycle.Decision, now time.Time) error {
	before := o.Run.Status.DeepCopy()
	job, actErr := r.act(ctx, o, d)
	if p := refusalOf(actErr); p != nil {
		d = lifecycle.Refuse(o, *p, now)
		_, actErr = r.act(ctx, o, d)
	}
	if errors.Is(actErr, errStale) {
		return actErr
	}
	status, err := r.nextStatus(ctx, o, d, job, now)
	if err != nil {
		return errors.Join(actErr, err)
	}
	if err := r.writeStatus(ctx, o.Run, status); err != nil {
		return errors.Join(actErr, err)
	}
	r.collect(o, status)
	r.announce(ctx, o.Run, before)
	return actErr
}

// conclude: a conflict is no error. It says that the object has changed, and
// the change comes as an event.
func conclude(d lifecycle.Decision, err error) (ctrl.Result, error) {
	if errors.Is(err, errStale) || apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: d.Requeue}, nil
}
