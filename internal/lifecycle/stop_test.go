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

// stopKept is a stop at t0 of which status tells.
func stopKept(o *Observed) {
	stopped(o)
	o.Run.Status.Ending = &v1alpha1.Ending{Reason: v1alpha1.ReasonStopped, Message: "m", Since: metav1.NewTime(t0)}
}

// obeyed is a pod that was told to stop in the middle of its load, and did.
func obeyed(p *Pod) {
	p.Stop = true
	p.Conclude(&results.Snapshot{Stage: results.StageDone, Stopped: true, Cleaning: results.CleaningKeysDeleted}, nil)
}

// hadDone is a pod that was told to stop when its load was over.
func hadDone(p *Pod) {
	p.Stop = true
	p.Conclude(&results.Snapshot{Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted}, nil)
}

// TestStopAfterTheLoad: a stop ends the run as Stopped only if it has cut a pod's
// load short, or nobody knows. It may reach the operator, and the pods, long after
// the last of them has done its part.
func TestStopAfterTheLoad(t *testing.T) {
	left := func(change func(*results.Snapshot)) func(*Pod) {
		return func(p *Pod) {
			s := &results.Snapshot{Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted}
			change(s)
			p.State, p.Exit = PodEnded, "ended with exit code 1 (Error)"
			p.Conclude(nil, s)
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
		p.Conclude(&results.Snapshot{Stage: results.StageCleaning}, nil)
	}
	crashed := func(p *Pod) { killed(p) }
	crashedLater := func(p *Pod) { killed(p); p.Stop = true }
	tests := map[string]struct {
		seen Observed
		at   time.Duration
		// want is the reason of the end; empty if there is none yet.
		want, wantWords string
	}{
		"all had done before":                {scenario(done, stopped), 0, v1alpha1.ReasonCompleted, ""},
		"all had done, told since":           {scenario(told(t0), stopKept, pod(0, hadDone), pod(1, hadDone)), 0, v1alpha1.ReasonCompleted, "The stop came when the load was over."},
		"one had done, one obeyed":           {scenario(told(t0), stopKept, pod(0, hadDone), pod(1, obeyed)), 0, v1alpha1.ReasonStopped, ""},
		"one had done, one has not told":     {scenario(told(t0), stopKept, pod(0, hadDone)), stopGrace - 1, "", ""},
		"one had done, one never tells":      {scenario(told(t0), stopKept, pod(0, hadDone)), stopGrace, v1alpha1.ReasonStopped, ""},
		"all had done, one deletes keys":     {scenario(told(t0), stopKept, pod(0, hadDone), pod(1, cleans)), stopGrace - 1, "", ""},
		"all had done, one deletes them yet": {scenario(told(t0), stopKept, pod(0, hadDone), pod(1, cleans)), stopGrace, v1alpha1.ReasonCompleted, "after they were to stop they were still deleting"},
		"one had done, deleted":              {scenario(told(t0), stopKept, deleted(t0), pod(0, hadDone), pod(1, obeyed)), 0, v1alpha1.ReasonStopped, ""},
		"all had done, deleted":              {scenario(told(t0), stopKept, deleted(t0), pod(0, hadDone), pod(1, hadDone)), 0, v1alpha1.ReasonCompleted, ""},
		"all failed before":                  {scenario(told(t0), stopped, pod(0, left(fails)), pod(1, left(fails))), 0, v1alpha1.ReasonTargetUnreachable, ""},
		"all failed, told since":             {scenario(told(t0), stopKept, pod(0, left(fails)), pod(1, left(fails))), 0, v1alpha1.ReasonTargetUnreachable, ""},
		"one failed, one obeyed":             {scenario(told(t0), stopKept, pod(0, left(fails)), pod(1, obeyed)), 0, v1alpha1.ReasonStopped, ""},
		"all ran out of time before":         {scenario(told(t0), stopped, pod(0, left(late)), pod(1, left(late))), 0, v1alpha1.ReasonTimedOut, ""},
		"a guard fired, the other had done":  {scenario(told(t0), stopKept, pod(0, left(fired)), pod(1, hadDone)), 0, v1alpha1.ReasonGuardStopped, ""},
		"one was evicted before":             {scenario(told(t0), stopped, pod(0, left(evicted)), pod(1, left(func(*results.Snapshot) {}))), 0, v1alpha1.ReasonPodFailed, ""},
		"one crashed before":                 {scenario(done, stopped, pod(1, crashed)), 0, v1alpha1.ReasonPodFailed, ""},
		"one crashed after it was told":      {scenario(done, stopKept, pod(1, crashedLater)), 0, v1alpha1.ReasonStopped, ""},
		"goes on without the crashed":        {scenario(done, stopKept, goesOn, pod(1, crashed)), 0, v1alpha1.ReasonPartlyCompleted, "The stop came when the load was over."},
		"goes on, one had done, one obeyed":  {scenario(told(t0), stopKept, goesOn, pod(0, hadDone), pod(1, obeyed)), 0, v1alpha1.ReasonStopped, ""},
		"goes on, one crashed after":         {scenario(done, stopKept, goesOn, pod(1, crashedLater)), 0, v1alpha1.ReasonStopped, ""},
		"ended for another reason":           {scenario(done, stopKept, func(o *Observed) { o.Run.Status.Ending.Reason = v1alpha1.ReasonJobDeleted }), 0, v1alpha1.ReasonJobDeleted, ""},
		"none has begun":                     {scenario(created, stopped), 0, v1alpha1.ReasonStopped, ""},
		"words that no pod of ours has":      {scenario(done, stopped, func(o *Observed) { o.Run.Status.StartAt = nil }), 0, v1alpha1.ReasonStopped, ""},
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

// What a pod that is gone was told is gone with it: nobody can tell that a stop has
// not cut its load short.
func TestAPodThatIsGoneWasToldToStop(t *testing.T) {
	o := scenario(done, stopKept)
	o.Run.Status.Pods = []v1alpha1.PodStatus{{Index: 0, Name: "a", Node: "node"}, {Index: 1, Name: "b", Node: "node"}}
	o.Pods, _ = AssignPods(o.Run, nil)
	if d := Decide(o, t0); d.Finish == nil || d.Finish.Reason != v1alpha1.ReasonStopped {
		t.Errorf("wanted the run to finish as Stopped, found %+v", d.Finish)
	}
}
