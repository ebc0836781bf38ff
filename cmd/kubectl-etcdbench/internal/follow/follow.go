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
	// ErrGone is returned where the run was deleted before it finished.
	ErrGone = errors.New("the run was deleted before it finished")
	// ErrNotFound is returned where there never was a run of that name.
	ErrNotFound = errors.New("there is no such run")
	// ErrLost is returned where the API server was out of reach for too long.
	ErrLost = errors.New("the API server cannot be reached any more")
)

// How long a person waits before being told that something is amiss.
const (
	// PickupTime is how long the operator may take to look at a run before a
	// notice says that there may be no operator.
	PickupTime = 30 * time.Second
	// MaxOutage is how long the API server may be out of reach.
	MaxOutage = 2 * time.Minute
)

const (
	// watchSeconds bounds one watch, so that one that died in silence is replaced.
	watchSeconds = 60
	minPause     = 250 * time.Millisecond
	maxPause     = 5 * time.Second
)

// Follower follows one run until it finishes. Follow calls its functions, one
// after the other.
type Follower struct {
	Cluster *Cluster
	Key     client.ObjectKey
	// UID is set where the run was just created: another run of that name is
	// then not taken for it.
	UID types.UID
	// Seen gets every state of the run, the finished one included.
	Seen func(*v1alpha1.EtcdBenchmark)
	// Notice gets what a person should know beside it.
	Notice func(string)
	// PickupTime and MaxOutage default to the constants of these names.
	PickupTime, MaxOutage time.Duration

	// last is the newest state that was seen.
	last *v1alpha1.EtcdBenchmark
	// pickup fires once if the operator does not look at the run.
	pickup *time.Timer
	// outage is since when the API server is out of reach; zero while it is not.
	outage time.Time
}

// Follow returns the run once it has finished. The error is ErrGone,
// ErrNotFound, ErrLost, the context's, or why the cluster does not show the run.
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
		f.rest(ctx, pause)
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

// nextPause is short after a watch that simply ended, and doubles in an outage.
func (f *Follower) nextPause(pause time.Duration) time.Duration {
	if f.outage.IsZero() {
		return minPause
	}
	return min(2*pause, maxPause)
}

// watchOnce reads the run and follows one watch to its end. Its errors are
// those that end Follow.
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

const noOperator = "No operator has looked at this run yet. Is it installed, does it watch this namespace, and is it running? " +
	"Try: kubectl get deployments -A -l app.kubernetes.io/name=etcd-benchmark-operator"

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

// see takes note of a state of the run.
func (f *Follower) see(run *v1alpha1.EtcdBenchmark) error {
	if f.UID == "" {
		f.UID = run.UID
	}
	if run.UID != f.UID {
		return fmt.Errorf("%w, and another of that name was created", ErrGone)
	}
	if run.Status.ObservedGeneration > 0 {
		f.pickup.Stop()
	}
	f.last = run
	f.Seen(run)
	return nil
}

// readError returns nil for what may pass, and tells of it once.
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
	return f.outOfReach(err)
}

func (f *Follower) outOfReach(err error) error {
	if f.outage.IsZero() {
		f.outage = time.Now()
		f.Notice(fmt.Sprintf("The API server cannot be reached; the run goes on without it. Trying again: %v", err))
	}
	if time.Since(f.outage) > f.MaxOutage {
		return fmt.Errorf("%w, since %s: %w", ErrLost, f.outage.Format(time.TimeOnly), err)
	}
	return nil
}

func (f *Follower) rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
