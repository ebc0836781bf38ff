package main

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// Times in the life of a pod that the run does not set.
const (
	claimFor = 200 * time.Millisecond
	drainFor = 50 * time.Millisecond
	cleanFor = 300 * time.Millisecond
)

// pod plays one client pod. Its stage follows from its annotations and the time.
type pod struct {
	namespace, name, run, runUID string
	index                        int
	window                       time.Duration
	ip                           string
	tape                         *tape
	listener                     net.Listener

	mu       sync.Mutex
	admitted time.Time
	start    time.Time
	// told is when the start arrived.
	told    time.Time
	stopped bool
	// scheduled, ready and ended are what the API server has been told.
	scheduled, ready, ended bool

	// course and last are the encoded course, and the termination message of a pod that has done everything. They are
	// made while the pod loads: on a cluster, pods do not share their processors with the manager when they end.
	course func() ([]byte, error)
	last   func() string
}

func newPod(p *corev1.Pod, ip string, window time.Duration, t *tape) *pod {
	index, _ := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	a := &pod{
		namespace: p.Namespace, name: p.Name, run: p.Labels[v1alpha1.LabelRunName], runUID: p.Labels[v1alpha1.LabelRunUID],
		index: index, window: window, ip: ip, tape: t,
	}
	a.course = sync.OnceValues(func() ([]byte, error) {
		return wire.MarshalCourse(&results.Snapshot{RunUID: a.runUID, Index: a.index, Course: a.tape.course})
	})
	a.last = sync.OnceValue(func() string { return a.messageAt(a.done()) })
	return a
}

// follow reads the annotations as the pod reads its files.
func (a *pod) follow(annotations map[string]string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if annotations[plan.AnnotationAdmitted] == "true" && a.admitted.IsZero() {
		a.admitted = now
	}
	if at, err := time.Parse(time.RFC3339Nano, annotations[plan.AnnotationStartAt]); err == nil && a.start.IsZero() {
		a.start, a.told = at, now
		// The pods of a run do it at different times.
		time.AfterFunc(time.Until(at)+a.window/4+a.window/2*time.Duration(a.index%10)/10, func() {
			_, _ = a.course()
			a.last()
		})
	}
	a.stopped = a.stopped || annotations[plan.AnnotationStop] == "true"
}

// end is when the last request is answered.
func (a *pod) end() time.Time { return a.start.Add(a.window) }

// done is when its keys are deleted.
func (a *pod) done() time.Time { return a.end().Add(drainFor + cleanFor) }

// stage is the stage of the pod; the caller holds the mutex.
func (a *pod) stage(now time.Time) results.Stage {
	switch {
	case a.stopped:
		return results.StageDone
	case a.admitted.IsZero():
		return results.StageWaiting
	case now.Before(a.admitted.Add(claimFor)):
		return results.StageClaiming
	case a.start.IsZero() || now.Before(a.start):
		return results.StageReady
	case now.Before(a.end()):
		return results.StageMeasuring
	case now.Before(a.end().Add(drainFor)):
		return results.StageDraining
	case now.Before(a.done()):
		return results.StageCleaning
	}
	return results.StageDone
}

// snapshot returns what the pod reports, and the frame with its requests, if it has sent any.
func (a *pod) snapshot(now time.Time) (*results.Snapshot, *frame) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &results.Snapshot{
		RunUID: a.runUID, Index: a.index, Transport: spec.TransportClient, Stage: a.stage(now), Clock: now,
		Cleaning: results.CleaningNothingWritten, Requests: map[spec.RPC]map[results.Phase]uint64{spec.RPCTxn: {results.PhaseControl: 2}},
	}
	if a.index == 0 {
		s.Target = target()
	}
	if a.start.IsZero() || now.Before(a.start) {
		return s, nil
	}
	return s, a.measured(s, now)
}

// measured adds the requests so far.
func (a *pod) measured(s *results.Snapshot, now time.Time) *frame {
	done := min(1, float64(now.Sub(a.start))/float64(a.window))
	f := &a.tape.frames[min(frames-1, int(done*frames))]
	reads, writes := f.results[spec.OperationRange].Latency.Count(), f.results[spec.OperationPut].Latency.Count()
	s.Requests[spec.RPCRange] = map[results.Phase]uint64{results.PhaseMeasured: reads}
	s.Requests[spec.RPCPut] = map[results.Phase]uint64{results.PhaseMeasured: writes}
	count := reads + writes
	s.Started, s.KeyBytes, s.Cleaning, s.Stopped = count, 27, results.CleaningKeysLeft, a.stopped
	s.Window = results.Window{StartAt: a.start, Start: a.start, Planned: a.window, LastResponse: earlier(now, a.end())}
	if s.HasMeasured() || s.Stage == results.StageDraining {
		s.Window.End = a.end()
	}
	if s.HasMeasured() {
		s.Process = &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{
			results.ProcessWindowSeconds: a.window.Seconds(), results.ProcessCPUSeconds: a.window.Seconds() / 10, results.ProcessProcessors: 2,
		}}
	}
	if s.Stage == results.StageDone {
		s.Cleaning = results.CleaningKeysDeleted
	}
	return f
}

func target() *results.Target {
	return &results.Target{ClusterID: "cdf818194e3a8c32", Members: []results.Member{
		{ID: "8e9e05c52164694d", Name: "etcd-0", Endpoint: "10.0.0.1:2379", Version: "3.7.3", Leader: true, DatabaseBytes: 1 << 20, QuotaBytes: 2 << 30},
	}}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// message is the termination message.
func (a *pod) message(now time.Time) string {
	a.mu.Lock()
	whole := !a.stopped && !a.start.IsZero() && a.stage(now) == results.StageDone
	a.mu.Unlock()
	if whole {
		return a.last()
	}
	return a.messageAt(now)
}

func (a *pod) messageAt(now time.Time) string {
	s, f := a.snapshot(now)
	if f != nil {
		s.Operations = f.results
	}
	return string(wire.TerminationMessage(s))
}

// serve answers scrapes on the address of the pod.
func (a *pod) serve() error {
	listener, err := net.Listen("tcp", net.JoinHostPort(a.ip, strconv.Itoa(plan.MetricsPort)))
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc(plan.MetricsPath, func(w http.ResponseWriter, _ *http.Request) {
		body, err := scrape(a.snapshot(time.Now()))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", wire.ScrapeAccept)
		_, _ = w.Write(body)
	})
	mux.HandleFunc(plan.CoursePath, func(w http.ResponseWriter, _ *http.Request) {
		if course, err := a.course(); err == nil {
			_, _ = w.Write(course)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listener = listener
	go func() { _ = server.Serve(listener) }()
	return nil
}

// close ends the server; the caller holds the mutex.
func (a *pod) close() {
	if a.listener != nil {
		_ = a.listener.Close()
		a.listener = nil
	}
}
