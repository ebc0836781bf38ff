package controllers

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// maxWait bounds every wait of these tests. Only a wait that fails takes that long.
const maxWait = time.Minute

// poll is the pause between two reads of the API server. Shorter pauses only use processor time.
const poll = 100 * time.Millisecond

// harness is a namespace with one run; the test plays the rest of the cluster.
type harness struct {
	t     *testing.T
	api   client.Client
	clock *movedClock
	run   *v1alpha1.EtcdBenchmark
	pods  []*fakePod
	stop  func()

	mu      *sync.Mutex
	servers map[string]string
	// subnet distinguishes the pods of several runs in one test.
	subnet int
}

// newHarness starts an operator and creates a run of two pods and 100 requests.
func newHarness(t *testing.T, changes ...func(*v1alpha1.EtcdBenchmark)) *harness {
	t.Helper()
	return newHarnessAt(t, 0, changes...)
}

// newHarnessAt starts an operator whose clock is ahead of that of the API server.
func newHarnessAt(t *testing.T, ahead time.Duration, changes ...func(*v1alpha1.EtcdBenchmark)) *harness {
	t.Helper()
	t.Parallel()
	s := &harness{t: t, api: cluster.api, clock: &movedClock{}, mu: &sync.Mutex{}, servers: map[string]string{}}
	s.clock.move(ahead)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-"}}
	s.must(s.api.Create(t.Context(), ns))
	s.run = newRun(ns.Name, "put", changes...)
	s.restart()
	s.must(s.api.Create(t.Context(), s.run))
	return s
}

func newRun(namespace, name string, changes ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	run.Spec.Target.Endpoints = []string{"http://127.0.0.1:2379"}
	run.Spec.Workload = spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{}}
	run.Spec.Load = spec.Load{Pods: 2, Connections: 2, Clients: 2, Requests: new(int64(100))}
	for _, change := range changes {
		change(run)
	}
	return run
}

// join creates another run for the same operator.
func (s *harness) join(name string, changes ...func(*v1alpha1.EtcdBenchmark)) *harness {
	s.t.Helper()
	other := &harness{t: s.t, api: s.api, clock: s.clock, mu: s.mu, servers: s.servers, subnet: len(name)}
	other.run = newRun(s.run.Namespace, name, changes...)
	s.must(s.api.Create(s.t.Context(), other.run))
	return other
}

// restart ends the operator, if it is running, and starts another one.
func (s *harness) restart(changes ...func(*EtcdBenchmarkReconciler)) {
	s.t.Helper()
	s.end()
	s.stop = startOperator(s.t, s.run.Namespace, s.clock, &http.Transport{DialContext: s.dial, DisableKeepAlives: true}, changes...)
}

func (s *harness) end() {
	if s.stop != nil {
		s.stop()
	}
}

// dial connects to the server that plays the pod with this address.
func (s *harness) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	server, ok := s.servers[address]
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("nothing listens on %s", address)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, server)
}

func (s *harness) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// await polls until the condition holds.
func (s *harness) await(what string, holds func() bool) {
	s.t.Helper()
	err := wait.PollUntilContextTimeout(s.t.Context(), poll, maxWait, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		s.t.Fatalf("wanted %s within %s, found status %+v", what, maxWait, s.status())
	}
}

func (s *harness) status() v1alpha1.EtcdBenchmarkStatus {
	s.t.Helper()
	run := &v1alpha1.EtcdBenchmark{}
	s.must(s.api.Get(s.t.Context(), client.ObjectKeyFromObject(s.run), run))
	return run.Status
}

// condition returns status and reason, for example "True/Completed"; "" if the condition is absent.
func (s *harness) condition(kind string) string {
	s.t.Helper()
	c := meta.FindStatusCondition(s.status().Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + "/" + c.Reason
}

func (s *harness) awaitCondition(kind, want string) {
	s.t.Helper()
	s.await(kind+"="+want, func() bool { return s.condition(kind) == want })
}

func (s *harness) awaitStage(want string) {
	s.t.Helper()
	s.awaitCondition(v1alpha1.ConditionFinished, "False/"+want)
}

// awaitSeen waits until the operator has seen the run.
func (s *harness) awaitSeen() {
	s.t.Helper()
	s.await("the operator to see the run", func() bool { return s.status().StartTime != nil })
}

func (s *harness) awaitFinished(want string) {
	s.t.Helper()
	s.awaitCondition(v1alpha1.ConditionFinished, "True/"+want)
}

// change patches the run, which also triggers the operator. It ignores a run that is gone.
func (s *harness) change(f func(*v1alpha1.EtcdBenchmark)) {
	s.t.Helper()
	run := &v1alpha1.EtcdBenchmark{}
	err := s.api.Get(s.t.Context(), client.ObjectKeyFromObject(s.run), run)
	if err == nil {
		before := run.DeepCopy()
		f(run)
		err = s.api.Patch(s.t.Context(), run, client.MergeFrom(before))
	}
	s.must(client.IgnoreNotFound(err))
}

// later advances the operator's clock and triggers it.
func (s *harness) later(d time.Duration) {
	s.t.Helper()
	s.clock.move(d)
	s.change(func(run *v1alpha1.EtcdBenchmark) {
		metav1.SetMetaDataAnnotation(&run.ObjectMeta, "test/woken", s.clock.Now().String())
	})
}

func (s *harness) jobs(component string) []batchv1.Job {
	s.t.Helper()
	list := &batchv1.JobList{}
	s.must(s.api.List(s.t.Context(), list, client.InNamespace(s.run.Namespace), client.MatchingLabels{v1alpha1.LabelComponent: component, v1alpha1.LabelRunName: s.run.Name}))
	return list.Items
}

// loadJob waits until status names the load Job.
func (s *harness) loadJob() *batchv1.Job {
	s.t.Helper()
	s.await("the load Job in status", func() bool { return s.status().Job != nil })
	return &s.jobs(v1alpha1.ComponentLoad)[0]
}

// makePods plays the Job controller.
func (s *harness) makePods() {
	s.t.Helper()
	job := s.loadJob()
	for i := range int(*job.Spec.Completions) {
		s.pods = append(s.pods, s.makePod(job, i))
	}
}

func (s *harness) makePod(job *batchv1.Job, index int) *fakePod {
	s.t.Helper()
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.GenerateName = job.Namespace, fmt.Sprintf("%s-%d-", job.Name, index)
	pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	pod.Spec.NodeName = "node"
	s.must(s.api.Create(s.t.Context(), pod))
	return &fakePod{harness: s, pod: pod, index: index}
}

// fakePod plays one client pod.
type fakePod struct {
	*harness
	pod   *corev1.Pod
	index int

	lock     sync.Mutex
	snapshot *results.Snapshot
}

// serve answers scrapes with the pod's current metrics.
func (a *fakePod) serve() {
	mux := http.NewServeMux()
	mux.Handle(plan.MetricsPath, promhttp.HandlerFor(wire.Gatherer(a.reported), promhttp.HandlerOpts{}))
	mux.HandleFunc(plan.CoursePath, func(w http.ResponseWriter, _ *http.Request) {
		course, err := wire.MarshalCourse(a.reported())
		if err == nil {
			_, err = w.Write(course)
		}
		if err != nil {
			a.t.Error(err)
		}
	})
	server := httptest.NewServer(mux)
	a.t.Cleanup(server.Close)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.servers[net.JoinHostPort(a.ip(), strconv.Itoa(plan.MetricsPort))] = server.Listener.Addr().String()
}

func (a *fakePod) ip() string { return fmt.Sprintf("198.18.%d.%d", a.subnet, a.index+1) }

func (a *fakePod) reported() *results.Snapshot {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.snapshot
}

// reports sets the pod's metrics.
func (a *fakePod) reports(at results.Stage, changes ...func(*results.Snapshot)) *results.Snapshot {
	snapshot := &results.Snapshot{
		RunUID: string(a.run.UID), Index: a.index, Transport: spec.TransportClient, Stage: at, Cleaning: results.CleaningNothingWritten,
	}
	for _, change := range changes {
		change(snapshot)
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.snapshot = snapshot
	return snapshot
}

// runs plays the kubelet when the container has started.
func (a *fakePod) runs() {
	a.t.Helper()
	a.reports(results.StageConnecting)
	a.kubelet(func(s *corev1.PodStatus) {
		s.Phase, s.PodIP, s.PodIPs = corev1.PodRunning, a.ip(), []corev1.PodIP{{IP: a.ip()}}
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
	})
}

func (a *fakePod) ready() {
	a.t.Helper()
	a.reports(results.StageReady)
	a.kubelet(func(s *corev1.PodStatus) {
		s.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
}

// exits ends the container; message may be nil.
func (a *fakePod) exits(code int32, message *results.Snapshot) {
	a.t.Helper()
	terminated := &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Completed", StartedAt: metav1.Now(), FinishedAt: metav1.Now()}
	if code != 0 {
		terminated.Reason = "Error"
	}
	if message != nil {
		terminated.Message = string(wire.TerminationMessage(message))
	}
	a.kubelet(func(s *corev1.PodStatus) {
		s.Phase, s.Conditions = corev1.PodSucceeded, nil
		if code != 0 {
			s.Phase = corev1.PodFailed
		}
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{Terminated: terminated}}}
	})
}

func (a *fakePod) kubelet(f func(*corev1.PodStatus)) {
	a.t.Helper()
	pod := a.seen()
	before := pod.DeepCopy()
	f(&pod.Status)
	a.must(a.api.Status().Patch(a.t.Context(), pod, client.MergeFrom(before)))
}

func (a *fakePod) seen() *corev1.Pod {
	a.t.Helper()
	pod := &corev1.Pod{}
	a.must(a.api.Get(a.t.Context(), client.ObjectKeyFromObject(a.pod), pod))
	return pod
}

func (a *fakePod) vanishes() {
	a.t.Helper()
	a.must(a.api.Delete(a.t.Context(), a.pod, client.GracePeriodSeconds(0)))
}

// allHave reports whether all pods have the annotation.
func (s *harness) allHave(annotation string) bool { return s.countHaving(annotation) == len(s.pods) }

func (s *harness) countHaving(annotation string) int {
	n := 0
	for _, a := range s.pods {
		if a.seen().Annotations[annotation] != "" {
			n++
		}
	}
	return n
}

// measured is the result of one of two pods that has put half of 100 keys.
func measured(s *results.Snapshot) {
	start := time.Now().Add(-time.Second).Truncate(time.Microsecond)
	op := &results.OperationResult{CompletedInWindow: 50}
	for i := range int64(50) {
		op.Latency.Record(1_000_000 * (i + 1))
		op.Service.Record(900_000 * (i + 1))
	}
	if s.HasMeasured() {
		for i := range 50 {
			s.Timeline.Record(time.Duration(i)*10*time.Millisecond, time.Millisecond, true)
		}
	}
	s.Operations = map[spec.Operation]*results.OperationResult{spec.OperationPut: op}
	s.Requests = map[spec.RPC]map[results.Phase]uint64{spec.RPCPut: {results.PhaseMeasured: 50}, spec.RPCTxn: {results.PhaseControl: 2}}
	s.Window = results.Window{StartAt: start, Start: start, End: start.Add(time.Second), LastResponse: start.Add(time.Second), PlannedRequests: 50}
	s.KeyBytes = 27
	s.Cleaning = results.CleaningKeysLeft
}

func withKeysDeleted(s *results.Snapshot) { s.Cleaning = results.CleaningKeysDeleted }

// The acts of a run, in order. Each act first waits for what the operator has to do before.
func (s *harness) playPreparing() {
	s.t.Helper()
	s.makePods()
	for _, a := range s.pods {
		a.serve()
		a.runs()
	}
	s.awaitStage(v1alpha1.StagePreparing)
}

func (s *harness) playReady() {
	s.t.Helper()
	for _, a := range s.pods {
		a.ready()
	}
}

func (s *harness) playRunning() {
	s.t.Helper()
	s.await("a start on every pod", func() bool { return s.allHave(plan.AnnotationStartAt) })
	for _, a := range s.pods {
		a.reports(results.StageMeasuring, measured)
	}
	s.awaitStage(v1alpha1.StageRunning)
}

func (s *harness) playCleaning() {
	s.t.Helper()
	for _, a := range s.pods {
		a.reports(results.StageCleaning, measured)
	}
	s.awaitStage(v1alpha1.StageCollecting)
}

func (s *harness) playDone() {
	s.t.Helper()
	for _, a := range s.pods {
		a.reports(results.StageDone, measured, withKeysDeleted)
	}
}
