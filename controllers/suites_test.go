package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func TestSuiteRunsOneAfterTheOther(t *testing.T) {
	h := newSuiteHarness(t).create()
	seen := map[string]bool{}
	for i := range 4 {
		run := h.next()
		if seen[run.Name] || len(h.runs()) != i+1 {
			t.Errorf("run %d is %s, and there are %d", i+1, run.Name, len(h.runs()))
		}
		seen[run.Name] = true
		if !metav1.IsControlledBy(run, h.suite) || run.Labels[v1alpha1.LabelSuite] != "nightly" || run.Spec.Load.Requests == nil {
			t.Errorf("wanted a run of the suite, found %+v", run)
		}
		if got, want := h.status().Display.Runs, fmt.Sprintf("%d/4", i); got != want {
			t.Errorf("display.runs is %s, wanted %s", got, want)
		}
		h.finish(run, v1alpha1.ReasonCompleted)
	}
	h.awaitFinished(v1alpha1.ReasonCompleted)
	status := h.status()
	if len(status.Results) != 4 || status.Current != "" || status.Seed == nil || status.EstimatedEnd != nil || status.CompletionTime == nil {
		t.Errorf("found %+v", status)
	}
	if got := status.Results[0].Operations[0].ThroughputMilliPerSecond; got != 1_000_000 {
		t.Errorf("the throughput of the first run is %d, wanted 1,000,000 per 1,000 s", got)
	}
	cleaned := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionCleaned)
	if cleaned == nil || cleaned.Status != metav1.ConditionTrue || meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReconciling) != nil {
		t.Errorf("found the conditions %+v", status.Conditions)
	}
}

// The next run starts when the keys of the one before are deleted: until then, that one uses its target.
func TestSuiteWaitsForTheKeysToBeDeleted(t *testing.T) {
	h := newSuiteHarness(t).create()
	first := h.next()
	h.change(first, func() { first.Finalizers = append(first.Finalizers, v1alpha1.Finalizer) })
	h.finish(first, v1alpha1.ReasonCompleted, func(s *v1alpha1.EtcdBenchmarkStatus) { s.Conditions = s.Conditions[:1] })
	h.await("the result", func() bool { return len(h.status().Results) == 1 })
	// The controller creates the runs of another suite after it has seen the result.
	newSuiteHarnessOf(t, h.suite.Namespace, "witness").create().next()
	if status := h.status(); status.Current != first.Name || len(h.runs()) != 2 {
		t.Fatalf("current is %q and there are %d runs, wanted the first, and that of the other suite", status.Current, len(h.runs()))
	}
	h.change(first, func() { first.Finalizers = nil })
	if second := h.next(); second.Name == first.Name {
		t.Errorf("%s runs again", second.Name)
	}
}

// lossyClient loses some writes of a suite's status, as an operator does that is terminated before them.
type lossyClient struct {
	client.Client
	loses func(*v1alpha1.EtcdBenchmarkSuite) bool
}

func (c lossyClient) Status() client.SubResourceWriter {
	return lossyWriter{c.Client.Status(), c.loses}
}

type lossyWriter struct {
	client.SubResourceWriter
	loses func(*v1alpha1.EtcdBenchmarkSuite) bool
}

func (w lossyWriter) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
	if s, is := o.(*v1alpha1.EtcdBenchmarkSuite); is && w.loses(s) {
		return apierrors.NewServiceUnavailable("the operator is terminated here")
	}
	return w.SubResourceWriter.Patch(ctx, o, p, options...)
}

// TestSuiteSurvivesRestarts ends the controller at each step of the first runs: after a run was created and before that
// is in status, while it runs, after it finished, and before its result is in status.
func TestSuiteSurvivesRestarts(t *testing.T) {
	h := newSuiteHarness(t, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Rounds, s.Spec.KeepRuns = 3, v1alpha1.KeepRunsNone })
	created := map[string]int{}
	lost := &atomic.Int64{}
	operator := func(loses func(*v1alpha1.EtcdBenchmarkSuite) bool) {
		h.restart(func(r *EtcdBenchmarkSuiteReconciler) {
			r.Client = lossyClient{r.Client, func(s *v1alpha1.EtcdBenchmarkSuite) bool {
				is := loses(s)
				if is {
					lost.Add(1)
				}
				return is
			}}
		})
	}
	never := func(*v1alpha1.EtcdBenchmarkSuite) bool { return false }
	operator(func(s *v1alpha1.EtcdBenchmarkSuite) bool { return s.Status.Current != "" })
	h.create()
	h.await("a run that is not in status", func() bool { return len(h.runs()) == 1 && lost.Load() > 0 })
	operator(never)
	for i := range 6 {
		run := h.next()
		created[run.Name]++
		if i < 2 {
			operator(func(s *v1alpha1.EtcdBenchmarkSuite) bool { return len(s.Status.Results) > i })
			before := lost.Load()
			h.finish(run, v1alpha1.ReasonCompleted)
			h.await("a result that is not in status", func() bool { return lost.Load() > before })
		} else {
			h.finish(run, v1alpha1.ReasonCompleted)
		}
		operator(never)
	}
	h.awaitFinished(v1alpha1.ReasonCompleted)
	for name, n := range created {
		if n != 1 {
			t.Errorf("%s ran %d times", name, n)
		}
	}
	if len(created) != 6 || len(h.status().Results) != 6 {
		t.Errorf("wanted 6 runs and results, found %v and %v", created, names(h.status().Results))
	}
	h.await("no run to be left", func() bool { return len(h.runs()) == 0 })
}

func TestSuiteRefusesWhatCannotRun(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.EtcdBenchmarkSuite)
		want   []string
	}{
		"a cell": {
			func(s *v1alpha1.EtcdBenchmarkSuite) {
				s.Spec.Loads[1].Load.Requests, s.Spec.Loads[1].Load.DurationSeconds = nil, new(int32(700))
			},
			[]string{"the cell c10: ", "spec.timeoutSeconds", "must be greater than"},
		},
		"no cells": {
			func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Exclude = []v1alpha1.SuiteExclusion{{Target: "etcd"}} },
			[]string{"spec.exclude leaves no cell"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newSuiteHarness(t, tc.change).create()
			c := h.awaitFinished(v1alpha1.ReasonInvalidCell)
			for _, want := range tc.want {
				if !contains(c.Message, want) {
					t.Errorf("wanted a message with %q, found: %s", want, c.Message)
				}
			}
			if len(h.runs()) != 0 || !meta.IsStatusConditionTrue(h.status().Conditions, v1alpha1.ConditionStalled) {
				t.Errorf("wanted no run and Stalled, found %d runs and %+v", len(h.runs()), h.status().Conditions)
			}
		})
	}
}

// A run of the same name that the suite did not create is not taken for a run of the suite.
func TestSuiteDoesNotAdoptTheRunsOfOthers(t *testing.T) {
	h := newSuiteHarness(t)
	h.stop()
	h.create()
	for name, owner := range map[string]metav1.OwnerReference{
		"nightly-1-1": {APIVersion: "v1", Kind: "ConfigMap"}, "nightly-2-1": {APIVersion: v1alpha1.GroupVersion.Group, Kind: suiteKind},
	} {
		owner.Name, owner.UID, owner.Controller = "nightly", h.suite.UID, new(true)
		forged := newRun(h.suite.Namespace, name)
		forged.OwnerReferences = []metav1.OwnerReference{owner}
		h.must(h.api.Create(t.Context(), forged))
	}
	h.restart()
	if c := h.awaitFinished(v1alpha1.ReasonInvalidCell); !contains(c.Message, "nightly-1-1 exists that does not belong to this suite") {
		t.Errorf("found: %s", c.Message)
	}
	if forged := h.runs()[1]; isOfSuite(&forged, h.suite) {
		t.Errorf("%+v counts as a run of the suite", forged.OwnerReferences)
	}
	later := newSuiteHarnessOf(t, h.suite.Namespace, "later")
	h.must(h.api.Create(t.Context(), newRun(h.suite.Namespace, "later-1-2")))
	later.create()
	for range 3 {
		later.finish(later.next(), v1alpha1.ReasonCompleted)
	}
	later.awaitFinished(v1alpha1.ReasonCompleted)
	if got := names(later.status().Results); !slices.Contains(got, "later-1-2 Refused") || len(got) != 4 {
		t.Errorf("wanted the run of another one as Refused, found %v", got)
	}
}

// A suite that is created again waits until the runs of the earlier one are deleted.
func TestSuiteIsCreatedAgain(t *testing.T) {
	h := newSuiteHarness(t).create()
	first := h.next()
	h.change(first, func() { first.Finalizers = append(first.Finalizers, v1alpha1.Finalizer) })
	h.must(h.api.Delete(t.Context(), h.suite))
	again := &suiteHarness{t: t, api: h.api, suite: &v1alpha1.EtcdBenchmarkSuite{Spec: h.suite.Spec}, ended: map[string]bool{}}
	again.suite.Namespace, again.suite.Name = h.suite.Namespace, h.suite.Name
	again.create()
	again.await("the reason why it waits", func() bool {
		c := meta.FindStatusCondition(again.status().Conditions, v1alpha1.ConditionFinished)
		return c.Reason == v1alpha1.StageChecking && contains(c.Message, "nightly-1-1 of an earlier suite is still being deleted")
	})
	// This plays the garbage collector, and the end of the run.
	h.must(h.api.Delete(t.Context(), first))
	h.change(first, func() { first.Finalizers = nil })
	if run := again.next(); !isOfSuite(run, again.suite) {
		t.Errorf("wanted a run of the new suite, found %+v", run.OwnerReferences)
	}
}

func TestSuiteAfterAFailedRun(t *testing.T) {
	deleted := func(h *suiteHarness, run *v1alpha1.EtcdBenchmark) {
		h.ended[run.Name] = true
		h.must(h.api.Delete(h.t.Context(), run))
	}
	failed := func(h *suiteHarness, run *v1alpha1.EtcdBenchmark) { h.finish(run, v1alpha1.ReasonTargetUnreachable) }
	lost := func(h *suiteHarness, run *v1alpha1.EtcdBenchmark) { h.finish(run, v1alpha1.ReasonTargetLost) }
	for name, tc := range map[string]struct {
		policy v1alpha1.RunFailedPolicy
		ends   func(*suiteHarness, *v1alpha1.EtcdBenchmark)
		// want is the end of the suite, reason that of the first run.
		want, reason string
		results      int
	}{
		"deleted by hand, go on": {v1alpha1.RunFailedContinue, deleted, v1alpha1.ReasonCompleted, v1alpha1.ReasonDeleted, 4},
		"deleted by hand, stop":  {v1alpha1.RunFailedStop, deleted, v1alpha1.ReasonRunFailed, v1alpha1.ReasonDeleted, 1},
		"no target, go on":       {v1alpha1.RunFailedContinue, failed, v1alpha1.ReasonCompleted, v1alpha1.ReasonTargetUnreachable, 4},
		"target lost, go on":     {v1alpha1.RunFailedContinue, lost, v1alpha1.ReasonCompleted, v1alpha1.ReasonTargetLost, 4},
		"target lost, stop":      {v1alpha1.RunFailedStop, lost, v1alpha1.ReasonRunFailed, v1alpha1.ReasonTargetLost, 1},
		"no target, stop":        {v1alpha1.RunFailedStop, failed, v1alpha1.ReasonRunFailed, v1alpha1.ReasonTargetUnreachable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newSuiteHarness(t, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.OnRunFailed = tc.policy }).create()
			tc.ends(h, h.next())
			for range tc.results - 1 {
				h.finish(h.next(), v1alpha1.ReasonCompleted)
			}
			h.awaitFinished(tc.want)
			results := h.status().Results
			if len(results) != tc.results || results[0].Reason != tc.reason || results[0].Invalid == "" {
				t.Errorf("found %+v", results)
			}
			if !meta.IsStatusConditionTrue(h.suite.Status.Conditions, v1alpha1.ConditionStalled) {
				t.Error("wanted Stalled: a run could not do its load")
			}
		})
	}
}

func TestSuiteStops(t *testing.T) {
	h := newSuiteHarness(t).create()
	h.finish(h.next(), v1alpha1.ReasonCompleted)
	second := h.next()
	h.change(h.suite, func() { h.suite.Spec.Stop = true })
	h.await("the run to be stopped", func() bool {
		h.must(h.api.Get(t.Context(), client.ObjectKeyFromObject(second), second))
		return second.Spec.Stop
	})
	if c := meta.FindStatusCondition(h.status().Conditions, v1alpha1.ConditionFinished); c.Status != metav1.ConditionFalse {
		t.Errorf("the suite ended before its run: %+v", c)
	}
	h.finish(second, v1alpha1.ReasonStopped)
	h.awaitFinished(v1alpha1.ReasonStopped)
	if got := names(h.status().Results); len(got) != 2 || len(h.runs()) != 2 {
		t.Errorf("found the results %v and %d runs, wanted 2", got, len(h.runs()))
	}
}

// A run that was created just before the operator was terminated is stopped with the suite, and its result is kept.
func TestSuiteStopsARunThatIsNotInStatus(t *testing.T) {
	h := newSuiteHarness(t)
	h.restart(func(r *EtcdBenchmarkSuiteReconciler) {
		r.Client = lossyClient{r.Client, func(s *v1alpha1.EtcdBenchmarkSuite) bool { return s.Status.Current != "" }}
	})
	h.create()
	h.await("a run", func() bool { return len(h.runs()) == 1 })
	h.stop()
	h.change(h.suite, func() { h.suite.Spec.Stop = true })
	h.restart()
	run := h.next()
	h.await("the run to be stopped", func() bool { return h.runs()[0].Spec.Stop })
	h.must(h.api.Get(t.Context(), client.ObjectKeyFromObject(run), run))
	h.finish(run, v1alpha1.ReasonStopped)
	h.awaitFinished(v1alpha1.ReasonStopped)
	if got := names(h.status().Results); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

func TestSuiteKeepsRuns(t *testing.T) {
	for policy, want := range map[v1alpha1.KeepRunsPolicy]int{v1alpha1.KeepRunsAll: 4, v1alpha1.KeepRunsFailed: 1, v1alpha1.KeepRunsNone: 0} {
		t.Run(string(policy), func(t *testing.T) {
			h := newSuiteHarness(t, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.KeepRuns = policy }).create()
			h.finish(h.next(), v1alpha1.ReasonPodFailed)
			for range 3 {
				h.finish(h.next(), v1alpha1.ReasonCompleted)
			}
			h.awaitFinished(v1alpha1.ReasonCompleted)
			h.await(fmt.Sprint(want, " runs to be left"), func() bool { return len(h.runs()) == want })
			if len(h.status().Results) != 4 {
				t.Errorf("found %v", names(h.status().Results))
			}
		})
	}
}

// A suite that is being deleted creates no run.
func TestSuiteThatIsDeletedCreatesNoRun(t *testing.T) {
	h := newSuiteHarness(t, func(s *v1alpha1.EtcdBenchmarkSuite) { s.Finalizers = []string{"example.org/foreground"} }).create()
	first := h.next()
	h.must(h.api.Delete(t.Context(), h.suite))
	h.finish(first, v1alpha1.ReasonStopped)
	h.change(h.suite, func() { h.suite.Labels = map[string]string{"test/woken": "once"} })
	other := newSuiteHarnessOf(t, h.suite.Namespace, "witness").create()
	// The controller has seen the other suite, so it has seen the deletion before it.
	other.next()
	if n := len(h.runs()); n != 2 {
		t.Errorf("there are %d runs, wanted the first one and that of the other suite", n)
	}
	h.change(h.suite, func() { h.suite.Finalizers = nil })
}

// TestSuiteSearches ends the controller at each step of the first probes: the search goes on where it was, and its answer
// is that of a search without restarts.
func TestSuiteSearches(t *testing.T) {
	const highest = 700
	h := newSuiteHarness(t, func(s *v1alpha1.EtcdBenchmarkSuite) {
		s.Spec.Loads, s.Spec.Rounds, s.Spec.KeepRuns = nil, 1, v1alpha1.KeepRunsNone
		s.Spec.Workloads[0].Objectives = []v1alpha1.Objective{{Name: "rate", Type: spec.ObjectiveAchievedRate, AchievedRate: &v1alpha1.AchievedRateObjective{MinPercent: 99}}}
		s.Spec.Search = &v1alpha1.SuiteSearch{Load: spec.Load{Clients: 10, DurationSeconds: new(int32(1))}, MaxPerSecond: 5000, PauseSeconds: new(int32(0))}
	})
	h.create()
	probes := map[string]int64{}
	for {
		h.await("a probe or the end", func() bool {
			s := h.status()
			return s.CompletionTime != nil || s.Current != "" && !h.ended[s.Current]
		})
		if h.suite.Status.CompletionTime != nil {
			break
		}
		run := h.next()
		if _, again := probes[run.Name]; again {
			t.Fatalf("%s ran twice", run.Name)
		}
		rate := int64(0)
		if run.Spec.Load.Rate != nil {
			rate = run.Spec.Load.Rate.PerSecond
		}
		probes[run.Name] = rate
		restart := len(probes) <= 5
		if restart {
			h.restart()
		}
		h.finish(run, v1alpha1.ReasonCompleted, func(s *v1alpha1.EtcdBenchmarkStatus) {
			if rate > 0 {
				s.Conditions = append(s.Conditions, metav1.Condition{
					Type: v1alpha1.ConditionPassed, Status: map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse}[rate <= highest],
					Reason: "Judged", LastTransitionTime: metav1.Now(),
				})
			}
		})
		if restart {
			h.restart()
		}
	}
	h.awaitFinished(v1alpha1.ReasonCompleted)
	status := h.status()
	if len(status.Results) != len(probes) || len(status.Capacities) != 1 {
		t.Fatalf("%d probes ran, found %d results and %+v", len(probes), len(status.Results), status.Capacities)
	}
	if c := status.Capacities[0]; c.State != v1alpha1.CapacityFound || c.RatePerSecond > highest || c.RatePerSecond < highest*95/100 || c.Confirmed != 3 {
		t.Errorf("found %+v, wanted about %d", c, highest)
	}
	for _, r := range status.Results {
		if r.Probe == nil || r.Probe.AskedPerSecond != probes[r.Name] {
			t.Errorf("found %+v, wanted the rate %d", r, probes[r.Name])
		}
	}
	if passed := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionPassed); passed == nil || passed.Status != metav1.ConditionTrue {
		t.Errorf("found %+v", status.Conditions)
	}
}
