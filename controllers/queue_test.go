package controllers

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func (s *stage) awaitQueued(position int32, behind *stage) {
	s.t.Helper()
	want := behind.run.Namespace + "/" + behind.run.Name
	s.await("a place in the queue", func() bool {
		q := s.status().Queue
		return s.condition(v1alpha1.ConditionFinished) == "False/"+v1alpha1.StageQueued && q != nil && q.Position == position && q.Behind == want
	})
}

// playAll takes a run that has its turn to its end.
func (s *stage) playAll() {
	s.t.Helper()
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
}

// TestQueue: runs on one address go one after the other, as they were created,
// also if the operator is another one by then, and no time-out counts the wait.
func TestQueue(t *testing.T) {
	s := newStage(t)
	s.playPreparing()
	second := s.join("second", targets(v1alpha1.Target{Endpoints: []string{"127.0.0.1:2379", "127.0.0.9:2379"}}))
	second.awaitQueued(1, s)
	third := s.join("third", targets(v1alpha1.Target{Endpoints: []string{"127.0.0.9:2379"}}))
	third.awaitQueued(2, second)
	s.restart()
	for _, waiting := range []*stage{second, third} {
		if jobs := waiting.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 || waiting.status().Admission != nil {
			t.Errorf("%s has %d Jobs while it waits", waiting.run.Name, len(jobs))
		}
	}
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	if status := second.status(); status.Queue != nil && status.Admission != nil {
		t.Errorf("it is in the queue and was let in: %+v", status)
	}
	second.loadJob()
	third.awaitQueued(1, second)
	second.playAll()
	third.playAll()
}

// slowReader holds back its first list of runs, once it is read, until it may go.
type slowReader struct {
	client.Reader
	first        *sync.Once
	listed, goes chan struct{}
}

func (r slowReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := r.Reader.List(ctx, list, options...)
	if _, ok := list.(*v1alpha1.EtcdBenchmarkList); ok {
		r.first.Do(func() {
			close(r.listed)
			<-r.goes
		})
	}
	return err
}

// TestRunsAskOneAfterTheOther: a run that is told that nobody is in front has its
// turn before anybody else asks, even one that was created before and comes to
// its addresses just then.
func TestRunsAskOneAfterTheOther(t *testing.T) {
	older := newStage(t, targets(byService(intstr.FromString("client"))))
	older.awaitSeen()
	reader := slowReader{first: &sync.Once{}, listed: make(chan struct{}), goes: make(chan struct{})}
	older.restart(func(r *EtcdBenchmarkReconciler) {
		reader.Reader = r.APIReader
		r.APIReader = reader
	})
	younger := older.join("younger", targets(v1alpha1.Target{Endpoints: []string{"198.18.9.1:12379"}}))
	<-reader.listed
	older.makeService(service("etcd"), slice("etcd", "198.18.9.1"))
	older.awaitEndpoints("198.18.9.1:12379")
	// Were it let in now, that would take less than this.
	letIn := func(context.Context) (bool, error) { return older.status().Admission != nil, nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 2*time.Second, true, letIn); err == nil {
		t.Error("the older run was let in while the younger one asked")
	}
	close(reader.goes)
	younger.loadJob()
	older.awaitQueued(1, younger)
}

func TestTimeoutsDoNotCountTheQueue(t *testing.T) {
	s := newStage(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.TimeoutSeconds = 86400 })
	s.playPreparing()
	s.playReady()
	second := s.join("second", func(run *v1alpha1.EtcdBenchmark) {
		// That counts from the Job, which the API server dates by its own clock.
		run.Spec.SchedulingTimeoutSeconds = 86400
	})
	second.awaitQueued(1, s)
	s.playRunning()
	s.later(2 * time.Hour)
	second.awaitQueued(1, s)
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	second.playAll()
}

func TestAllowedRunsDoNotQueue(t *testing.T) {
	s := newStage(t)
	s.loadJob()
	second := s.join("second", func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow
	})
	second.loadJob()
	if second.status().Queue != nil {
		t.Errorf("it is in the queue: %+v", second.status().Queue)
	}
}

// TestNobodyElsewhereWaitsForPodsThatNeverCome: of a run that allows others, too,
// nobody knows the cluster until a pod of it runs. Then others wait to hear it.
func TestNobodyElsewhereWaitsForPodsThatNeverCome(t *testing.T) {
	s := newStage(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow })
	s.loadJob()
	elsewhere := func(name, address string) *stage {
		other := s.join(name, targets(v1alpha1.Target{Endpoints: []string{address}}))
		other.makePods()
		for _, a := range other.pods {
			a.serve()
			a.runs()
			a.says(results.StageWaiting, inCluster(name))
		}
		return other
	}
	second := elsewhere("second", "etcd.example:2379")
	second.await("the pods to hear of their turn", func() bool { return second.allHave(plan.AnnotationTurn) })
	s.makePods()
	s.pods[1].runs()
	s.await("its pods to count", func() bool { return s.status().Admission.ConfirmedAt != nil })
	third := elsewhere("third", "etcd.example:12379")
	third.await("the message that the cluster of the first is not known", func() bool { return strings.Contains(third.message(), "/"+s.run.Name) })
	if third.allHave(plan.AnnotationTurn) {
		t.Error("a pod was told to write beside pods of a cluster that is not known")
	}
}

func TestAStopEndsTheWaitInTheQueue(t *testing.T) {
	s := newStage(t)
	s.loadJob()
	second := s.join("second")
	second.awaitQueued(1, s)
	second.change(func(run *v1alpha1.EtcdBenchmark) { run.Spec.Stop = true })
	second.awaitFinished(v1alpha1.ReasonStopped)
	if second.status().Queue != nil || len(second.jobs(v1alpha1.ComponentLoad)) > 0 {
		t.Errorf("wanted nothing to be left of its wait, found %+v", second.status().Queue)
	}
}

func inCluster(id string) func(*results.Snapshot) {
	return func(s *results.Snapshot) { s.Target = &results.Target{ClusterID: id} }
}

// TestOneClusterUnderTwoAddresses: the pods of a run that starts beside another
// one write nothing until it is known that the clusters differ; if they do not,
// the run queues.
func TestOneClusterUnderTwoAddresses(t *testing.T) {
	s := newStage(t)
	s.playPreparing()
	second := s.join("second", targets(v1alpha1.Target{Endpoints: []string{"etcd.example:2379"}}))
	second.makePods()
	for _, a := range second.pods {
		a.serve()
		a.runs()
		a.says(results.StageWaiting, inCluster("c1"))
	}
	second.await("the message that the cluster of the first is not known", func() bool { return strings.Contains(second.message(), "not known yet") })
	s.pods[0].says(results.StageConnecting, inCluster("c1"))
	second.awaitQueued(1, s)
	if q := second.status().Queue; !q.SameCluster {
		t.Errorf("status.queue is %+v, wanted it to say that the cluster is the same", q)
	}
	s.restart()
	second.awaitQueued(1, s)
	if second.allHave(plan.AnnotationTurn) {
		t.Error("a pod was told to write before its turn")
	}
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	second.await("the pods to hear of their turn", func() bool { return second.allHave(plan.AnnotationTurn) })
	second.playReady()
	second.playRunning()
	second.playDone()
	second.awaitFinished(v1alpha1.ReasonCompleted)
}

func TestAnotherClusterIsNotWaitedFor(t *testing.T) {
	s := newStage(t)
	s.playPreparing()
	s.pods[0].says(results.StageConnecting, inCluster("c1"))
	second := s.join("second", targets(v1alpha1.Target{Endpoints: []string{"etcd.example:2379"}}))
	second.makePods()
	for _, a := range second.pods {
		a.serve()
		a.runs()
		a.says(results.StageWaiting, inCluster("c2"))
	}
	second.await("the pods to hear of their turn", func() bool { return second.allHave(plan.AnnotationTurn) })
	if second.status().Queue != nil {
		t.Errorf("it is in the queue: %+v", second.status().Queue)
	}
}
