package controllers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/kubelet"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarks,verbs=get;list;watch;patch;delete;create-children
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarks/status,verbs=patch
// +kubebuilder:rbac:groups=etcdbench.dev,resources=etcdbenchmarks/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;create
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list
// +kubebuilder:rbac:groups="",resources=events,verbs=list;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// EtcdBenchmarkReconciler reconciles EtcdBenchmarks.
type EtcdBenchmarkReconciler struct {
	// Client reads pods and Jobs of runs from its cache; it also writes.
	Client client.Client
	// APIReader reads from the API server: the target's objects, and everything that must be up to date.
	APIReader client.Reader
	Recorder  events.EventRecorder
	Collector *collector.Collector
	// Kubelets reads the kubelets of members' nodes; nil if the operator may not.
	Kubelets *kubelet.Reader
	Clock    clock.PassiveClock
	// ClientImage is the image of the client pods.
	ClientImage string
	// MemberUser is the user and group of the processes of members that runs start; 0 leaves it to the cluster.
	MemberUser int64
	// Caps are the limits for every run.
	Caps Caps
	// Resolver resolves names that may lead to a control plane.
	Resolver Resolver

	sightings  sightings
	admissions admissions
}

// NewEtcdBenchmarkReconciler returns a reconciler that uses the manager's clients and starts client pods from this
// image.
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

// KubeletConfig is how to reach kubelets.
type KubeletConfig = kubelet.Config

// ReadKubelets has the reconciler read kubelets, with the credentials of this client of the API server.
func (r *EtcdBenchmarkReconciler) ReadKubelets(cluster *rest.Config, c KubeletConfig) (err error) {
	r.Kubelets, err = kubelet.New(cluster, c)
	return err
}

// conflictPause gives the cache time to catch up after a conflict.
const conflictPause = 50 * time.Millisecond

// errStale means that the cache was out of date; the next reconcile reads a newer state.
var errStale = errors.New("the cache is behind the API server")

// Reconcile takes one run one step further. After choosing a start it takes a second step at once: otherwise the start
// could pass while other runs are reconciled, and would have to be chosen again.
func (r *EtcdBenchmarkReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	run := &v1alpha1.EtcdBenchmark{}
	if err := r.Client.Get(ctx, request.NamespacedName, run); err != nil {
		if apierrors.IsNotFound(err) {
			r.stopReading(request.NamespacedName)
			r.sightings.forget(request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	decision, err := r.step(ctx, run)
	if err == nil && decision.StartAt != nil {
		decision, err = r.step(ctx, run)
	}
	return requeueAfter(decision, err)
}

// step decides and acts once; after it, run is the object as written.
func (r *EtcdBenchmarkReconciler) step(ctx context.Context, run *v1alpha1.EtcdBenchmark) (lifecycle.Decision, error) {
	defer r.decideAlone(run)()
	observed, err := r.observe(ctx, run)
	if err != nil {
		return lifecycle.Decision{}, fmt.Errorf("observing %s: %w", client.ObjectKeyFromObject(run), err)
	}
	now := r.Clock.Now()
	decision := lifecycle.Decide(observed, now)
	return decision, r.proceed(ctx, observed, decision, now)
}

// proceed acts, writes status once (also after a failed action), and announces the changes.
func (r *EtcdBenchmarkReconciler) proceed(ctx context.Context, o lifecycle.Observed, d lifecycle.Decision, now time.Time) error {
	before := o.Run.Status.DeepCopy()
	made, actErr := r.act(ctx, o, d)
	if p := refusalOf(actErr); p != nil {
		d = lifecycle.Refuse(o, *p, now)
		_, actErr = r.act(ctx, o, d)
	}
	if errors.Is(actErr, errStale) {
		return actErr
	}
	status, err := r.nextStatus(ctx, o, d, made, now)
	if err != nil {
		return errors.Join(actErr, err)
	}
	if err := r.writeStatus(ctx, o.Run, status); err != nil {
		return errors.Join(actErr, err)
	}
	r.collect(o, status)
	r.announce(ctx, o.Run, before)
	if actErr == nil && waitsForNothing(o, d) {
		r.sightings.forget(client.ObjectKeyFromObject(o.Run))
	}
	return actErr
}

// waitsForNothing reports whether no grace period of the run can follow before its deletion: it has ended, the cleanup, too,
// and either no pod is alive, or each had its time. A decision that waits otherwise waits for the TTL.
func waitsForNothing(o lifecycle.Observed, d lifecycle.Decision) bool {
	known := meta.FindStatusCondition(o.Run.Status.Conditions, v1alpha1.ConditionCleaned)
	if !o.Run.HasFinished() || known == nil || known.Status == metav1.ConditionUnknown || o.Run.DeletionTimestamp != nil {
		return false
	}
	lives := func(p lifecycle.Pod) bool { return p.State == lifecycle.PodRunning || p.State == lifecycle.PodWaiting }
	return d.Requeue == 0 || !slices.ContainsFunc(slices.Concat(o.Pods, o.ExtraPods), lives)
}

// requeueAfter does not treat a conflict as an error: the object has changed, and the change triggers another reconcile.
func requeueAfter(d lifecycle.Decision, err error) (ctrl.Result, error) {
	if errors.Is(err, errStale) || apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: d.Requeue}, nil
}
