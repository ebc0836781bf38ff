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
)

var (
	// ErrGone is returned if the object was deleted before it finished.
	ErrGone = errors.New("was deleted before it finished")
	// ErrNotFound is returned if no object of that name exists.
	ErrNotFound = errors.New("was not found")
	// ErrLost is returned if the API server was unreachable for too long.
	ErrLost = errors.New("the API server cannot be reached")
)

// Time-outs after which the user gets a notice or an error.
const (
	// PickupTime is the time for the operator to observe an object. After it, a notice says that the operator may be
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

// Follower follows one run or one suite until it finishes. Follow never calls two of its functions at the same time.
type Follower[T client.Object] struct {
	Kind    *Kind[T]
	Cluster *Cluster
	Key     client.ObjectKey
	// UID is set if the object was just created, to tell it from another one of the same name.
	UID types.UID
	// Seen gets every state of the object, including the finished one.
	Seen func(T)
	// Notice gets messages for the user.
	Notice func(string)
	// PickupTime and MaxOutage default to the constants of these names.
	PickupTime, MaxOutage time.Duration

	// last is the newest state. finished: it is the state of a finished object.
	last     T
	finished bool
	// pickup fires once if the operator does not observe the object.
	pickup *time.Timer
	// outage is the time at which the API server became unreachable; zero while it is reachable.
	outage time.Time
}

// Follow returns the object once it has finished. The error is ErrGone, ErrNotFound, ErrLost, the context's, or the
// reason why the object cannot be read.
func (f *Follower[T]) Follow(ctx context.Context) (T, error) {
	f.setDefaults()
	f.pickup = time.NewTimer(f.PickupTime)
	defer f.pickup.Stop()
	for pause := minPause; ; pause = f.nextPause(pause) {
		if err := f.watchOnce(ctx); err != nil {
			var none T
			return none, err
		}
		if f.finished {
			return f.last, nil
		}
		f.pause(ctx, pause)
	}
}

func (f *Follower[T]) setDefaults() {
	if f.PickupTime == 0 {
		f.PickupTime = PickupTime
	}
	if f.MaxOutage == 0 {
		f.MaxOutage = MaxOutage
	}
}

// nextPause is short after a watch that ended normally, and doubles in an outage.
func (f *Follower[T]) nextPause(pause time.Duration) time.Duration {
	if f.outage.IsZero() {
		return minPause
	}
	return min(2*pause, maxPause)
}

// watchOnce reads the object and follows one watch to its end. Its errors end Follow.
func (f *Follower[T]) watchOnce(ctx context.Context) error {
	object := f.Kind.empty()
	if err := f.Cluster.client.Get(ctx, f.Key, object); err != nil {
		return f.readError(ctx, err)
	}
	f.outage = time.Time{}
	if err := f.see(object); err != nil || f.finished {
		return err
	}
	events, err := f.Cluster.client.Watch(ctx, f.Kind.list(), f.watchOptions(object.GetResourceVersion()))
	if err != nil {
		return f.readError(ctx, err)
	}
	defer events.Stop()
	return f.receive(ctx, events.ResultChan())
}

func (f *Follower[T]) watchOptions(version string) *client.ListOptions {
	seconds := int64(watchSeconds)
	return &client.ListOptions{
		Namespace:     f.Key.Namespace,
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, f.Key.Name),
		Raw:           &metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: &seconds},
	}
}

// receive takes events until the watch ends or the object finishes.
func (f *Follower[T]) receive(ctx context.Context, events <-chan watch.Event) error {
	for !f.finished {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.pickup.C:
			f.Notice(fmt.Sprintf(noOperator, f.Kind.Noun) + f.Cluster.selected)
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

const noOperator = "No operator has observed this %s yet. Check that the operator is installed, is running and watches this namespace: " +
	"kubectl get deployments -A -l app.kubernetes.io/name=etcd-benchmark-operator"

func (f *Follower[T]) take(event watch.Event) error {
	object, ok := event.Object.(T)
	switch {
	case !ok:
		return nil
	case event.Type == watch.Deleted && !f.Kind.IsFinished(object):
		return f.because(ErrGone)
	}
	return f.see(object)
}

// see records and shows a state of the object.
func (f *Follower[T]) see(object T) error {
	if f.UID == "" {
		f.UID = object.GetUID()
	}
	if object.GetUID() != f.UID {
		return fmt.Errorf("%w, and another %s of that name was created", f.because(ErrGone), f.Kind.Noun)
	}
	if f.Kind.observed(object) > 0 {
		f.pickup.Stop()
	}
	f.last, f.finished = object, f.Kind.IsFinished(object)
	f.Seen(object)
	return nil
}

// because returns an error of which the object is the subject.
func (f *Follower[T]) because(err error) error {
	return fmt.Errorf("the %s %s %w", f.Kind.Noun, f.Key, err)
}

// readError returns nil for a temporary error, after one notice.
func (f *Follower[T]) readError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsNotFound(err) && f.UID != "":
		return f.because(ErrGone)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w: kubectl get %s %s lists those that exist", f.because(ErrNotFound), f.Kind.resource, f.Cluster.At(f.Key.Namespace))
	case meta.IsNoMatchError(err), apierrors.IsUnauthorized(err), apierrors.IsForbidden(err):
		return f.Kind.explain(err)
	case f.UID == "":
		return f.Kind.explain(err)
	}
	return f.unreachable(err)
}

func (f *Follower[T]) unreachable(err error) error {
	if f.outage.IsZero() {
		f.outage = time.Now()
		f.Notice(fmt.Sprintf("The API server cannot be reached. The %s continues without it; trying again: %v", f.Kind.Noun, err))
	}
	if time.Since(f.outage) > f.MaxOutage {
		return fmt.Errorf("%w since %s: %w", ErrLost, f.outage.Format(time.TimeOnly), err)
	}
	return nil
}

func (f *Follower[T]) pause(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
