package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// fired is what a pod reports whose guard has ended its load.
func fired(p *Pod) {
	p.Conclude(&results.Snapshot{
		Stage: results.StageDone, Stopped: true, Cleaning: results.CleaningKeysDeleted,
		Fired: &results.Fired{Rule: spec.GuardAlarm, Subject: "etcd-0", Detail: "NOSPACE", At: t0},
	}, nil)
}

// A pod that its guard has stopped is not lost, and the others stop with it.
func TestAGuardThatFiresEndsTheRun(t *testing.T) {
	d := Decide(scenario(told(t0), pod(0, fired)), t0.Add(time.Second))
	if d.Ending == nil || d.Ending.Reason != v1alpha1.ReasonGuardStopped || !strings.Contains(d.Ending.Message, "NOSPACE") || d.Finish != nil {
		t.Fatalf("wanted the run to end as GuardStopped, found %+v", d)
	}
	kept := scenario(told(t0), pod(0, fired), func(o *Observed) { o.Run.Status.Ending = d.Ending })
	if got, want := acts(Decide(kept, t0.Add(time.Second))), "Annotate a stop, Annotate b stop"; got != want {
		t.Errorf("wanted %q, found %q", want, got)
	}
	if got := Decide(kept, t0.Add(time.Second+stopGrace)).Finish; got == nil || got.Reason != v1alpha1.ReasonGuardStopped {
		t.Errorf("wanted it to finish once the grace of a stop is over, found %+v", got)
	}
}

// What somebody asked for is told before what the guard saw.
func TestAStopIsToldBeforeAGuard(t *testing.T) {
	d := Decide(scenario(told(t0), pod(0, fired), func(o *Observed) { o.Run.Spec.Stop = true }), t0.Add(time.Second))
	if d.Ending == nil || d.Ending.Reason != v1alpha1.ReasonStopped {
		t.Errorf("wanted Stopped, found %+v", d.Ending)
	}
}

// Client pod 0 watches the target until it has deleted its keys, when nobody loads
// it any more: a rule that fires then has ended nothing.
func TestAGuardThatFiresAfterTheLoadEndsNothing(t *testing.T) {
	late := &results.Fired{Rule: spec.GuardAlarm, Subject: "etcd-0", Detail: "NOSPACE", At: t0}
	deleting := scenario(done, pod(0, func(p *Pod) { p.Final, p.Live = nil, &results.Snapshot{Stage: results.StageCleaning, Fired: late} }))
	if d := Decide(deleting, t0.Add(time.Second)); d.Ending != nil || d.Finish != nil {
		t.Errorf("wanted the run to go on, found %+v", d)
	}
	loading := scenario(told(t0), pod(0, func(p *Pod) { p.Live = &results.Snapshot{Stage: results.StageCleaning, Fired: late} }))
	if d := Decide(loading, t0.Add(time.Second)); d.Ending == nil || d.Ending.Reason != v1alpha1.ReasonGuardStopped {
		t.Errorf("wanted the load of the others to end, found %+v", d)
	}
}
