package lifecycle

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func stopped(o *Observed) { o.Run.Spec.Stop = true }

// stopKept is a stop at t0 that status holds.
func stopKept(o *Observed) {
	stopped(o)
	o.Run.Status.Ending, o.Seen.Ending = &v1alpha1.Ending{Reason: v1alpha1.ReasonStopped, Message: "m", Since: metav1.NewTime(t0)}, t0
}

// cutShort is a pod that a stop has ended in the middle of its load.
func cutShort(p *Pod) {
	p.Stop = true
	p.Choose(&results.Snapshot{Stage: results.StageDone, Stopped: true, Cleaning: results.CleaningKeysDeleted}, nil)
}

// doneBeforeStop is a pod that was asked to stop after its load.
func doneBeforeStop(p *Pod) {
	p.Stop = true
	p.Choose(&results.Snapshot{Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted}, nil)
}

// TestStopAfterTheLoad: a stop ends the run as Stopped only if it has cut the load of a pod short, or if that is
// unknown. It may reach the operator and the pods long after the load has ended.
func TestStopAfterTheLoad(t *testing.T) {
	left := func(change func(*results.Snapshot)) func(*Pod) {
		return func(p *Pod) {
			s := &results.Snapshot{Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted}
			change(s)
			p.State, p.Exit = PodEnded, "ended with exit code 1 (Error)"
			p.Choose(nil, s)
		}
	}
	fails := func(s *results.Snapshot) {
		s.Failure = &results.Failure{Reason: results.FailureTargetUnreachable, Message: "no"}
	}
	late := func(s *results.Snapshot) {
		s.Stopped, s.Failure = true, &results.Failure{Reason: results.FailureTimedOut, Message: "late"}
	}
	fired := func(s *results.Snapshot) {
		s.Stopped, s.Fired = true, &results.Fired{Rule: spec.GuardAlarm, Detail: "NOSPACE", At: t0}
	}
	evicted := func(s *results.Snapshot) { s.Stopped = true }
	cleans := func(p *Pod) {
		p.Stop = true
		p.Choose(&results.Snapshot{Stage: results.StageCleaning}, nil)
	}
	crashed := func(p *Pod) { killed(p) }
	crashedLater := func(p *Pod) { killed(p); p.Stop = true }
	tests := map[string]struct {
		seen Observed
		at   time.Duration
		// want is the reason of the end; empty if the run continues.
		want, wantWords string
	}{
		"all done before":                    {scenario(done, stopped), 0, v1alpha1.ReasonCompleted, ""},
		"all done, asked since":              {scenario(startSet(t0), stopKept, pod(0, doneBeforeStop), pod(1, doneBeforeStop)), 0, v1alpha1.ReasonCompleted, "The stop came after the load had ended."},
		"one done, one cut short":            {scenario(startSet(t0), stopKept, pod(0, doneBeforeStop), pod(1, cutShort)), 0, v1alpha1.ReasonStopped, ""},
		"one done, one not reported":         {scenario(startSet(t0), stopKept, pod(0, doneBeforeStop)), stopGrace - 1, "", ""},
		"one done, one never reports":        {scenario(startSet(t0), stopKept, pod(0, doneBeforeStop)), stopGrace, v1alpha1.ReasonStopped, ""},
		"all done, one deletes keys":         {scenario(startSet(t0), stopKept, pod(0, doneBeforeStop), pod(1, cleans)), stopGrace - 1, "", ""},
		"all had done, one deletes them yet": {scenario(startSet(t0), stopKept, pod(0, doneBeforeStop), pod(1, cleans)), stopGrace, v1alpha1.ReasonCompleted, "after the stop, they were still deleting"},
		"one done, deleted":                  {scenario(startSet(t0), stopKept, deleted(t0), pod(0, doneBeforeStop), pod(1, cutShort)), 0, v1alpha1.ReasonStopped, ""},
		"all done, deleted":                  {scenario(startSet(t0), stopKept, deleted(t0), pod(0, doneBeforeStop), pod(1, doneBeforeStop)), 0, v1alpha1.ReasonCompleted, ""},
		"all failed before":                  {scenario(startSet(t0), stopped, pod(0, left(fails)), pod(1, left(fails))), 0, v1alpha1.ReasonTargetUnreachable, ""},
		"all failed, asked since":            {scenario(startSet(t0), stopKept, pod(0, left(fails)), pod(1, left(fails))), 0, v1alpha1.ReasonTargetUnreachable, ""},
		"one failed, one cut short":          {scenario(startSet(t0), stopKept, pod(0, left(fails)), pod(1, cutShort)), 0, v1alpha1.ReasonStopped, ""},
		"all ran out of time before":         {scenario(startSet(t0), stopped, pod(0, left(late)), pod(1, left(late))), 0, v1alpha1.ReasonTimedOut, ""},
		"a guard fired, the other done":      {scenario(startSet(t0), stopKept, pod(0, left(fired)), pod(1, doneBeforeStop)), 0, v1alpha1.ReasonGuardStopped, ""},
		"one was evicted before":             {scenario(startSet(t0), stopped, pod(0, left(evicted)), pod(1, left(func(*results.Snapshot) {}))), 0, v1alpha1.ReasonPodFailed, ""},
		"one crashed before":                 {scenario(done, stopped, pod(1, crashed)), 0, v1alpha1.ReasonPodFailed, ""},
		"one crashed after the stop":         {scenario(done, stopKept, pod(1, crashedLater)), 0, v1alpha1.ReasonStopped, ""},
		"continues without the crashed":      {scenario(done, stopKept, onPodLostContinue, pod(1, crashed)), 0, v1alpha1.ReasonPartlyCompleted, "The stop came after the load had ended."},
		"continues, one done, one cut short": {scenario(startSet(t0), stopKept, onPodLostContinue, pod(0, doneBeforeStop), pod(1, cutShort)), 0, v1alpha1.ReasonStopped, ""},
		"continues, one crashed after":       {scenario(done, stopKept, onPodLostContinue, pod(1, crashedLater)), 0, v1alpha1.ReasonStopped, ""},
		"ended for another reason":           {scenario(done, stopKept, func(o *Observed) { o.Run.Status.Ending.Reason = v1alpha1.ReasonJobDeleted }), 0, v1alpha1.ReasonJobDeleted, ""},
		"none has begun":                     {scenario(created, stopped), 0, v1alpha1.ReasonStopped, ""},
		"results without a start":            {scenario(done, stopped, func(o *Observed) { o.Run.Status.StartAt = nil }), 0, v1alpha1.ReasonStopped, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(tc.at))
			got, words := "", ""
			if d.Finish != nil {
				got, words = d.Finish.Reason, d.Finish.Message
			}
			if got != tc.want || !strings.Contains(words, tc.wantWords) {
				t.Errorf("wanted the run to finish as %q with %q, found %q: %q", tc.want, tc.wantWords, got, words)
			}
		})
	}
}

// The annotation of a deleted pod is gone. So a stop may have cut its load short.
func TestADeletedPodMayHaveBeenStopped(t *testing.T) {
	o := scenario(done, stopKept)
	o.Run.Status.Pods = []v1alpha1.PodStatus{{Index: 0, Name: "a", Node: "node"}, {Index: 1, Name: "b", Node: "node"}}
	o.Pods, _ = AssignPods(o.Run, nil)
	if d := Decide(o, t0); d.Finish == nil || d.Finish.Reason != v1alpha1.ReasonStopped {
		t.Errorf("wanted the run to finish as Stopped, found %+v", d.Finish)
	}
}
