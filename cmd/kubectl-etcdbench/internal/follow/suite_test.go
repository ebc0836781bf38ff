package follow

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// suiteAt is a suite with as many results, which has finished or not.
func suiteAt(results int, finished metav1.ConditionStatus, reason string) *v1alpha1.EtcdBenchmarkSuite {
	s := &v1alpha1.EtcdBenchmarkSuite{}
	s.Namespace, s.Name, s.UID = key.Namespace, key.Name, "first"
	s.Status.ObservedGeneration = 1
	s.Status.Results = make([]v1alpha1.SuiteResult, results)
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: finished, Reason: reason})
	return s
}

func suiteFollower(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite, calls interceptor.Funcs) (f *Follower[*v1alpha1.EtcdBenchmarkSuite], notices chan string) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(s).WithInterceptorFuncs(calls).Build()
	notices = make(chan string, 100)
	return &Follower[*v1alpha1.EtcdBenchmarkSuite]{
		Kind: Suites, Cluster: &Cluster{client: c}, Key: key, UID: "first",
		Seen: func(*v1alpha1.EtcdBenchmarkSuite) {}, Notice: func(text string) { notices <- text },
	}, notices
}

func TestFollowSeesEachStateOfASuite(t *testing.T) {
	f, _ := suiteFollower(t, suiteAt(0, metav1.ConditionFalse, v1alpha1.StageRunning), interceptor.Funcs{
		Watch: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) (watch.Interface, error) {
			if _, suites := list.(*v1alpha1.EtcdBenchmarkSuiteList); !suites {
				t.Errorf("wanted a watch of suites, got %T", list)
			}
			w := watch.NewFake()
			go func() {
				w.Modify(suiteAt(1, metav1.ConditionFalse, v1alpha1.StageRunning))
				w.Modify(suiteAt(2, metav1.ConditionTrue, v1alpha1.ReasonCompleted))
			}()
			return w, nil
		},
	})
	var seen []int
	f.Seen = func(s *v1alpha1.EtcdBenchmarkSuite) { seen = append(seen, len(s.Status.Results)) }
	s, err := f.Follow(bounded(t))
	if err != nil || len(s.Status.Results) != 2 || len(seen) != 3 || seen[1] != 1 {
		t.Errorf("wanted the states with 0, 1 and 2 results, got %v, and %v", seen, err)
	}
}

// The messages name the kind that is followed.
func TestMessagesAboutASuite(t *testing.T) {
	running := suiteAt(0, metav1.ConditionFalse, v1alpha1.StageRunning)
	fails := func(err error) interceptor.Funcs {
		return interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		}}
	}
	for name, tc := range map[string]struct {
		uid   types.UID
		key   string
		calls interceptor.Funcs
		is    error
		want  string
	}{
		"another one": {"second", key.Name, interceptor.Funcs{}, ErrGone, "the suite etcd/puts was deleted before it finished, and another suite of that name was created"},
		"deleted":     {"first", "gone", interceptor.Funcs{}, ErrGone, "the suite etcd/gone was deleted before it finished"},
		"not there":   {"", "none", interceptor.Funcs{}, ErrNotFound, "the suite etcd/none was not found: kubectl get etcdbenchmarksuite -n etcd lists those that exist"},
		"old cluster": {"", key.Name, fails(&meta.NoKindMatchError{}), nil, "this cluster has no kind EtcdBenchmarkSuite: install the operator, or a newer version of it"},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := suiteFollower(t, running, tc.calls)
			f.UID, f.Key.Name = tc.uid, tc.key
			_, err := f.Follow(bounded(t))
			if err == nil || !strings.Contains(err.Error(), tc.want) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("wanted %q, got %v", tc.want, err)
			}
		})
	}
}

func TestNoticesAboutASuite(t *testing.T) {
	s := suiteAt(0, metav1.ConditionFalse, v1alpha1.StagePending)
	s.Status.ObservedGeneration = 0
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	f, _ := suiteFollower(t, s, interceptor.Funcs{})
	f.PickupTime = time.Millisecond
	text := ""
	f.Notice = func(notice string) {
		text = notice
		cancel()
	}
	if _, err := f.Follow(ctx); !errors.Is(err, context.Canceled) || !strings.HasPrefix(text, "No operator has observed this suite yet.") {
		t.Errorf("wanted a notice about the suite, got %q and %v", text, err)
	}
}
