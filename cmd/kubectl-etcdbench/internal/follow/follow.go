package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

var (
	// ErrGone is returned if the run was deleted before it finished.
	ErrGone = errors.New("the run was deleted before it finished")
	// ErrNotFound is returned if no run of that name exists.
	ErrNotFound = errors.New("found no run of that name")
	// ErrLost is returned if the API server was unreachable for too long.
	ErrLost = errors.New("the API server cannot be reached")
)

// Time-outs after which the user gets a notice or an error.
const (
	// PickupTime is the time for the operator to observe a run. After it, a notice says that the operator may be
	// missing.
	PickupTime = 30 * time.Second
	// MaxOutage is the time for which the API server may be unreachable.
	MaxOutage = 2 * time.Minute
)

const (
	// watchSeconds bounds one watch, so that a watch without a live connection is replaced.
	watchSeconds = 60
	minPause     = 250 * time.Millisecond
	maxPause     = 5 * time.Second
)

// Follower follows one run until it finishes. Follow never calls two of its functions at the same time.
type Follower struct {
	Cluster *Cluster
	Key     client.ObjectKey
	// UID is set if the run was just created, to tell it from another run of the same name.
	UID types.UID
	// Seen gets every state of the run, including the finished one.
	Seen func(*v1alpha1.EtcdBenchmark)
	// Notice gets messages for the user.
	Notice func(string)
	// PickupTime and MaxOutage default to the constants of these names.
	PickupTime, MaxOutage time.Duration

	// last is the newest state.
	last *v1alpha1.EtcdBenchmark
	// pickup fires once if the operator does not observe the run.
	pickup *time.Timer
	// outage is the time at which the API server became unreachable; zero while it is reachable.
	outage time.Time
}

// Follow returns the run once it has finished. The error is ErrGone, ErrNotFound, ErrLost, the context's, or the reason
// why the run cannot be read.
func (f *Follower) Follow(ctx context.Context) (*v1alpha1.EtcdBenchmark, error) {
	f.setDefaults()
	f.pickup = time.NewTimer(f.PickupTime)
	defer f.pickup.Stop()
	for pause := minPause; ; pause = f.nextPause(pause) {
		if err := f.watchOnce(ctx); err != nil {
			return nil, err
		}
		if f.last != nil && IsFinished(f.last) {
			return f.last, nil
		}
		f.pause(ctx, pause)
	}
}

func (f *Follower) setDefaults() {
	if f.PickupTime == 0 {
		f.PickupTime = PickupTime
	}
	if f.MaxOutage == 0 {
		f.MaxOutage = MaxOutage
	}
}

// nextPause is short after a watch that ended normally, and doubles in an outage.
func (f *Follower) nextPause(pause time.Duration) time.Duration {
	if f.outage.IsZero() {
		return minPause
	}
	return min(2*pause, maxPause)
}

// watchOnce reads the run and follows one watch to its end. Its errors end Follow.
func (f *Follower) watchOnce(ctx context.Context) error {
	run := &v1alpha1.EtcdBenchmark{}
	if err := f.Cluster.client.Get(ctx, f.Key, run); err != nil {
		return f.readError(ctx, err)
	}
	f.outage = time.Time{}
	if err := f.see(run); err != nil || IsFinished(run) {
		return err
	}
	events, err := f.Cluster.client.Watch(ctx, &v1alpha1.EtcdBenchmarkList{}, f.watchOptions(run.ResourceVersion))
	if err != nil {
		return f.readError(ctx, err)
	}
	defer events.Stop()
	return f.receive(ctx, events.ResultChan())
}

func (f *Follower) watchOptions(version string) *client.ListOptions {
	seconds := int64(watchSeconds)
	return &client.ListOptions{
		Namespace:     f.Key.Namespace,
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, f.Key.Name),
		Raw:           &metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: &seconds},
	}
}

// receive takes events until the watch ends or the run finishes.
func (f *Follower) receive(ctx context.Context, events <-chan watch.Event) error {
	for f.last == nil || !IsFinished(f.last) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.pickup.C:
			f.Notice(noOperator)
		case event, open := <-events:
			if !open || event.Type == watch.Error {
				return nil
			}
			if err := f.take(event); err != nil {
				return err
			}
		}
	}
	return nil
}

const noOperator = "No operator has observed this run yet. Check that the operator is installed, is running and watches this namespace: " +
	"kubectl get deployments -A -l app.kubernetes.io/name=etcd-benchmark-operator"

func (f *Follower) take(event watch.Event) error {
	run, ok := event.Object.(*v1alpha1.EtcdBenchmark)
	switch {
	case !ok:
		return nil
	case event.Type == watch.Deleted && !IsFinished(run):
		return ErrGone
	}
	return f.see(run)
}

// see records and shows a state of the run.
func (f *Follower) see(run *v1alpha1.EtcdBenchmark) error {
	if f.UID == "" {
		f.UID = run.UID
	}
	if run.UID != f.UID {
		return fmt.Errorf("%w, and another run of that name was created", ErrGone)
	}
	if run.Status.ObservedGeneration > 0 {
		f.pickup.Stop()
	}
	f.last = run
	f.Seen(run)
	return nil
}

// readError returns nil for a temporary error, after one notice.
func (f *Follower) readError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsNotFound(err) && f.UID != "":
		return ErrGone
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %s", ErrNotFound, f.Key)
	case meta.IsNoMatchError(err), apierrors.IsUnauthorized(err), apierrors.IsForbidden(err):
		return explain(err)
	case f.UID == "":
		return explain(err)
	}
	return f.unreachable(err)
}

func (f *Follower) unreachable(err error) error {
	if f.outage.IsZero() {
		f.outage = time.Now()
		f.Notice(fmt.Sprintf("The API server cannot be reached. The run continues without it; trying again: %v", err))
	}
	if time.Since(f.outage) > f.MaxOutage {
		return fmt.Errorf("%w since %s: %w", ErrLost, f.outage.Format(time.TimeOnly), err)
	}
	return nil
}

func (f *Follower) pause(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
