package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// playQueue measures the pause between two runs on one target, beside that of a run alone.
func (s *stage) playQueue(ctx context.Context, o *outcome) error {
	alone, err := s.startAlone(ctx)
	if err != nil {
		return err
	}
	if err := s.makeNamespace(ctx, "queue"); err != nil {
		return err
	}
	s.kubelet.loadFor("queue", time.Second)
	err = s.measured(o, func() error {
		err := inParallel(s.Queue, func(i int) error {
			return s.plane.api.Create(ctx, newRun("queue", fmt.Sprintf("run-%03d", i), address(6, 0), 1, time.Second))
		})
		if err != nil {
			return err
		}
		return s.awaitFinished(ctx, "queue", s.Queue, 20*time.Minute)
	})
	if err != nil {
		return err
	}
	// The summary of a run and its release are written before the next one starts.
	pauses := pausesOf(s.diary.of("queue"))
	o.figure("startAloneSeconds", alone.Seconds())
	o.figure("pauseP50Seconds", quantile(pauses, 0.5).Seconds())
	o.figure("pauseP99Seconds", quantile(pauses, 0.99).Seconds())
	o.atMost("end to start p99, s more than alone", (quantile(pauses, 0.99) - alone).Seconds(), 3)
	o.figure("writesPerRun", float64(o.Requests["patch etcdbenchmarks/status"])/float64(s.Queue))
	o.atMost("status writes while a run waits", float64(writesWhileWaiting(s.diary.of("queue"), o.statusWrites)), 4)
	o.exactly("whole results", s.wholeRuns("queue", 1), float64(s.Queue))
	return nil
}

// writesWhileWaiting is the largest number of writes of a run's status until it may start, with the one that says so.
func writesWhileWaiting(all []sighting, writes map[string][]time.Time) (most int) {
	for _, r := range all {
		n := 1
		for _, at := range writes[client.ObjectKeyFromObject(r.run).String()] {
			if at.Before(r.run.Status.Admission.At.Time) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// startAlone is the time from the creation of a run to its start, with no other run.
func (s *stage) startAlone(ctx context.Context) (time.Duration, error) {
	if err := s.makeNamespace(ctx, "alone"); err != nil {
		return 0, err
	}
	s.kubelet.loadFor("alone", time.Second)
	if err := s.plane.api.Create(ctx, newRun("alone", "run", address(7, 0), 1, time.Second)); err != nil {
		return 0, err
	}
	if err := s.awaitFinished(ctx, "alone", 1, startLimit); err != nil {
		return 0, err
	}
	r := s.diary.of("alone")[0]
	return r.run.Status.StartAt.Sub(r.created), nil
}

// pausesOf are the times from the end of a run, as seen in its status, to the start of the next one.
func pausesOf(all []sighting) (pauses []time.Duration) {
	slices.SortFunc(all, func(a, b sighting) int { return a.run.Status.StartAt.Compare(b.run.Status.StartAt.Time) })
	for i := 1; i < len(all); i++ {
		pauses = append(pauses, all[i].run.Status.StartAt.Sub(all[i-1].finished))
	}
	return pauses
}

func quantile[T cmp.Ordered](values []T, q float64) (value T) {
	if len(values) == 0 {
		return value
	}
	values = slices.Sorted(slices.Values(values))
	return values[min(len(values)-1, int(q*float64(len(values))))]
}

// wholeRuns counts the runs that have completed with all requests, and says why the others have not.
func (s *stage) wholeRuns(namespace string, pods int) (n float64) {
	for _, r := range s.diary.of(namespace) {
		if whole(r.run, pods) {
			n++
			continue
		}
		s.say("%s/%s is not whole:", namespace, r.run.Name)
		for _, c := range r.run.Status.Conditions {
			s.say("  %s %s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
		if sum := r.run.Status.Summary; sum != nil {
			s.say("  %d requests measured, partial: %t", sum.MeasuredRequests, sum.Partial)
		}
		s.say("  the end of the manager's log: %s", s.lastLog())
	}
	return n
}

// playLoading measures runs that load at the same time, and half as many for the cost of each.
func (s *stage) playLoading(ctx context.Context, o *outcome) error {
	var half outcome
	half.Figures = map[string]float64{}
	if err := s.load(ctx, &half, "loading-half", s.Loading/2, 8); err != nil {
		return err
	}
	if err := s.load(ctx, o, "loading", s.Loading, 9); err != nil {
		return err
	}
	o.figure("halfCPUPercent", half.ManagerCPUPercent)
	o.figure("halfPeakMB", half.ManagerPeakMB)
	o.atMost("peak MB", o.ManagerPeakMB, 300)
	o.atMost("% of a core", o.ManagerCPUPercent, 60)
	o.atMost("CPU beside that of half as many", o.ManagerCPUPercent/half.ManagerCPUPercent, 2.4)
	o.exactly("whole results", s.wholeRuns("loading", s.LoadingPods), float64(s.Loading))
	o.atMost("last response to Finished p99, s", o.Figures["finishP99Seconds"], 10)
	return nil
}

// load measures from when all runs load until the first of them ends, and their ends.
func (s *stage) load(ctx context.Context, o *outcome, namespace string, runs, target int) error {
	if err := s.makeNamespace(ctx, namespace); err != nil {
		return err
	}
	s.kubelet.loadFor(namespace, time.Duration(s.LoadingSeconds)*time.Second)
	created := time.Now()
	err := inParallel(runs, func(i int) error {
		return s.plane.api.Create(ctx, newRun(namespace, fmt.Sprintf("run-%03d", i), address(target, i), s.LoadingPods, time.Duration(s.LoadingSeconds)*time.Second))
	})
	if err != nil {
		return err
	}
	started := func(r sighting) bool {
		return r.run.Status.StartAt != nil && time.Now().After(r.run.Status.StartAt.Time)
	}
	if err := s.await(ctx, "all runs loading", startLimit, func() bool { return s.diary.count(namespace, started) == runs }); err != nil {
		return err
	}
	o.figure("createdToLastStartSeconds", time.Since(created).Seconds())
	err = s.measured(o, func() error { return s.awaitFinished(ctx, namespace, runs, 2*startLimit) })
	if err != nil {
		return err
	}
	var ends []time.Duration
	for _, r := range s.diary.of(namespace) {
		ends = append(ends, r.finished.Sub(r.run.Status.StartAt.Add(time.Duration(s.LoadingSeconds)*time.Second)))
	}
	o.figure("finishP50Seconds", quantile(ends, 0.5).Seconds())
	o.figure("finishP99Seconds", quantile(ends, 0.99).Seconds())
	o.figure("statusWritesPerRunSecond", float64(o.Requests["patch etcdbenchmarks/status"])/float64(runs)/o.Seconds)
	return nil
}

// playWide measures one run with many pods.
func (s *stage) playWide(ctx context.Context, o *outcome) error {
	// With a shorter window, 1,000 pods would exceed the maximum rate of a load.
	const window = 30 * time.Second
	if err := s.makeNamespace(ctx, "wide"); err != nil {
		return err
	}
	s.kubelet.loadFor("wide", window)
	told := func(r sighting) bool { return r.run.Status.StartAt != nil }
	var times []time.Time
	err := s.measured(o, func() error {
		if err := s.plane.api.Create(ctx, newRun("wide", "run", address(10, 0), s.Wide, window)); err != nil {
			return err
		}
		if err := s.await(ctx, "a start", startLimit, func() bool { return s.diary.count("wide", told) == 1 }); err != nil {
			return err
		}
		err := s.await(ctx, "all pods told", time.Minute, func() bool { times = toldAt(s.kubelet.podsOf("wide")); return len(times) == s.Wide })
		if err != nil {
			return err
		}
		return s.awaitFinished(ctx, "wide", 1, startLimit)
	})
	if err != nil {
		return err
	}
	run := s.diary.of("wide")[0].run
	size, err := sizeOf(run)
	o.figure("pods", float64(s.Wide))
	// A pod that is told too late starts late.
	o.figure("toldBeforeStartSeconds", run.Status.StartAt.Sub(slices.MaxFunc(times, time.Time.Compare)).Seconds())
	o.atMost("first to last pod told, s", spread(times).Seconds(), 3)
	o.atMost("object KiB", size, 256)
	o.exactly("whole results", s.wholeRuns("wide", s.Wide), 1)
	return err
}

// toldAt is when the pods got their start.
func toldAt(pods []*pod) (times []time.Time) {
	for _, a := range pods {
		a.mu.Lock()
		if !a.told.IsZero() {
			times = append(times, a.told)
		}
		a.mu.Unlock()
	}
	return times
}

func spread(times []time.Time) time.Duration {
	first, last := slices.MinFunc(times, time.Time.Compare), slices.MaxFunc(times, time.Time.Compare)
	return last.Sub(first)
}

// sizeOf is the size of an object as JSON, in KiB.
func sizeOf(run *v1alpha1.EtcdBenchmark) (float64, error) {
	text, err := json.Marshal(run)
	return float64(len(text)) / 1024, err
}
