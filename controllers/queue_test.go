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

func (s *harness) awaitQueued(position int32, behind *harness) {
	s.t.Helper()
	want := behind.run.Namespace + "/" + behind.run.Name
	s.await("a place in the queue", func() bool {
		q := s.status().Queue
		return s.condition(v1alpha1.ConditionFinished) == "False/"+v1alpha1.StageQueued && q != nil && q.Position == position && q.Behind == want
	})
}

// playAll plays an admitted run to its end.
func (s *harness) playAll() {
	s.t.Helper()
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
}

// TestQueue: runs at one address run one after the other, in the order of their creation, also after a restart of the
// operator. No timeout counts the wait.
func TestQueue(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	second := s.join("second", targets(v1alpha1.Target{Endpoints: []string{"127.0.0.1:2379", "127.0.0.9:2379"}}))
	second.awaitQueued(1, s)
	third := s.join("third", targets(v1alpha1.Target{Endpoints: []string{"127.0.0.9:2379"}}))
	third.awaitQueued(2, second)
	s.restart()
	for _, waiting := range []*harness{second, third} {
		if jobs := waiting.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 || waiting.status().Admission != nil {
			t.Errorf("%s has %d Jobs while it waits", waiting.run.Name, len(jobs))
		}
	}
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	if status := second.status(); status.Queue != nil && status.Admission != nil {
		t.Errorf("it is in the queue although it was admitted: %+v", status)
	}
	second.loadJob()
	third.awaitQueued(1, second)
	second.playAll()
	third.playAll()
}

// slowReader blocks after its first list of runs until it is released.
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

// TestRunsCheckOneAfterTheOther: a run that finds no run in front is admitted before any other run checks, even before
// an older run that gets the same addresses at that moment.
func TestRunsCheckOneAfterTheOther(t *testing.T) {
	older := newHarness(t, targets(byService(intstr.FromString("client"))))
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
	// If it were admitted now, that would take less than this.
	letIn := func(context.Context) (bool, error) { return older.status().Admission != nil, nil }
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 2*time.Second, true, letIn); err == nil {
		t.Error("the older run was admitted while the younger one checked")
	}
	close(reader.goes)
	younger.loadJob()
	older.awaitQueued(1, younger)
}

func TestTimeoutsDoNotCountTheQueue(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.TimeoutSeconds = 86400 })
	s.playPreparing()
	s.playReady()
	second := s.join("second", func(run *v1alpha1.EtcdBenchmark) {
		// The timeout counts from the Job's creation, which the API server dates by its own clock.
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
	s := newHarness(t)
	s.loadJob()
	second := s.join("second", func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow
	})
	second.loadJob()
	if second.status().Queue != nil {
		t.Errorf("it is in the queue: %+v", second.status().Queue)
	}
}

// TestPodsThatNeverStartBlockNoOtherAddress: the cluster of a run is unknown until one of its pods is running, also for
// a run that allows others. After that, other runs wait until its cluster is known.
func TestPodsThatNeverStartBlockNoOtherAddress(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsAllow })
	s.loadJob()
	elsewhere := func(name, address string) *harness {
		other := s.join(name, targets(v1alpha1.Target{Endpoints: []string{address}}))
		other.makePods()
		for _, a := range other.pods {
			a.serve()
			a.runs()
			a.reports(results.StageWaiting, inCluster(name))
		}
		return other
	}
	second := elsewhere("second", "etcd.example:2379")
	second.await("the pods to get permission to write", func() bool { return second.allHave(plan.AnnotationTurn) })
	s.makePods()
	s.pods[1].runs()
	s.await("its pods to count", func() bool { return s.status().Admission.ConfirmedAt != nil })
	third := elsewhere("third", "etcd.example:12379")
	third.await("the message that the cluster of the first is not known", func() bool { return strings.Contains(third.message(), "/"+s.run.Name) })
	if third.allHave(plan.AnnotationTurn) {
		t.Error("a pod got permission to write while another cluster is unknown")
	}
}

func TestAStopEndsTheWaitInTheQueue(t *testing.T) {
	s := newHarness(t)
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

// TestOneClusterUnderTwoAddresses: the pods of a run write nothing until the clusters of this run and of the active run
// are known to differ. If they are the same, the run queues.
func TestOneClusterUnderTwoAddresses(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	second := s.join("second", targets(v1alpha1.Target{Endpoints: []string{"etcd.example:2379"}}))
	second.makePods()
	for _, a := range second.pods {
		a.serve()
		a.runs()
		a.reports(results.StageWaiting, inCluster("c1"))
	}
	second.await("the message that the cluster of the first is not known", func() bool { return strings.Contains(second.message(), "does not know yet") })
	s.pods[0].reports(results.StageConnecting, inCluster("c1"))
	second.awaitQueued(1, s)
	if q := second.status().Queue; !q.SameCluster {
		t.Errorf("status.queue is %+v, wanted it to say that the cluster is the same", q)
	}
	s.restart()
	second.awaitQueued(1, s)
	if second.allHave(plan.AnnotationTurn) {
		t.Error("a pod got permission to write before its turn")
	}
	s.playReady()
	s.playRunning()
	s.playDone()
	s.awaitFinished(v1alpha1.ReasonCompleted)
	second.await("the pods to get permission to write", func() bool { return second.allHave(plan.AnnotationTurn) })
	second.playReady()
	second.playRunning()
	second.playDone()
	second.awaitFinished(v1alpha1.ReasonCompleted)
}

func TestAnotherClusterIsNotWaitedFor(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.pods[0].reports(results.StageConnecting, inCluster("c1"))
	second := s.join("second", targets(v1alpha1.Target{Endpoints: []string{"etcd.example:2379"}}))
	second.makePods()
	for _, a := range second.pods {
		a.serve()
		a.runs()
		a.reports(results.StageWaiting, inCluster("c2"))
	}
	second.await("the pods to get permission to write", func() bool { return second.allHave(plan.AnnotationTurn) })
	if second.status().Queue != nil {
		t.Errorf("it is in the queue: %+v", second.status().Queue)
	}
}
