package follow

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

var key = client.ObjectKey{Namespace: "etcd", Name: "puts"}

func pending() *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{}
	run.Namespace, run.Name, run.UID = key.Namespace, key.Name, "first"
	return run
}

func finished() *v1alpha1.EtcdBenchmark {
	run := pending()
	meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted,
	})
	return run
}

// follower follows a run of a fake API server; calls replace some of the server's.
func follower(t *testing.T, run *v1alpha1.EtcdBenchmark, calls interceptor.Funcs) (f *Follower[*v1alpha1.EtcdBenchmark], notices chan string) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(run).WithInterceptorFuncs(calls).Build()
	notices = make(chan string, 100)
	return &Follower[*v1alpha1.EtcdBenchmark]{
		Kind: Runs, Cluster: &Cluster{client: c}, Key: key, UID: "first",
		Seen: func(*v1alpha1.EtcdBenchmark) {}, Notice: func(text string) { notices <- text },
	}, notices
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

var errOutage = errors.New("connection refused")

func TestFollowSurvivesAnOutage(t *testing.T) {
	var reads atomic.Int32
	f, notices := follower(t, finished(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if reads.Add(1) <= 2 {
				return errOutage
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	run, err := f.Follow(bounded(t))
	if err != nil || !Runs.IsFinished(run) {
		t.Errorf("wanted the finished run, got %v and %v", run, err)
	}
	if len(notices) != 1 {
		t.Errorf("wanted one notice of one outage, got %d", len(notices))
	}
}

func TestFollowGivesUpAfterALongOutage(t *testing.T) {
	f, _ := follower(t, pending(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errOutage
		},
	})
	f.MaxOutage = time.Millisecond
	if _, err := f.Follow(bounded(t)); !errors.Is(err, ErrLost) {
		t.Errorf("wanted ErrLost, got %v", err)
	}
}

func TestFollowRenewsWatchesThatEnd(t *testing.T) {
	var watches atomic.Int32
	f, _ := follower(t, pending(), interceptor.Funcs{
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
			w := watch.NewFake()
			if watches.Add(1) == 1 {
				w.Stop()
			} else {
				go w.Modify(finished())
			}
			return w, nil
		},
	})
	run, err := f.Follow(bounded(t))
	if err != nil || !Runs.IsFinished(run) || watches.Load() != 2 {
		t.Errorf("wanted the finished run by the second watch, got %v and %v by %d", run, err, watches.Load())
	}
}

func TestFollowWarnsOfAMissingOperator(t *testing.T) {
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	f, _ := follower(t, pending(), interceptor.Funcs{})
	f.PickupTime = time.Millisecond
	noticed := false
	f.Notice = func(string) {
		noticed = true
		cancel()
	}
	if _, err := f.Follow(ctx); !errors.Is(err, context.Canceled) || !noticed {
		t.Errorf("wanted a notice before the end, got %v", err)
	}
}

func TestFollowIgnoresAnotherRunOfTheName(t *testing.T) {
	run := pending()
	run.UID = "second"
	f, _ := follower(t, run, interceptor.Funcs{})
	if _, err := f.Follow(bounded(t)); !errors.Is(err, ErrGone) {
		t.Errorf("wanted ErrGone, got %v", err)
	}
}
