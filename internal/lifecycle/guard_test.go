package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// fired makes a pod report that its guard has ended its load.
func fired(p *Pod) {
	p.Choose(&results.Snapshot{
		Stage: results.StageDone, Stopped: true, Cleaning: results.CleaningKeysDeleted,
		Fired: &results.Fired{Rule: spec.GuardAlarm, Subject: "etcd-0", Detail: "NOSPACE", At: t0},
	}, nil)
}

// A pod that its guard has stopped is not lost, and the other pods stop too.
func TestAGuardThatFiresEndsTheRun(t *testing.T) {
	d := Decide(scenario(startSet(t0), pod(0, fired)), t0.Add(time.Second))
	if d.Ending == nil || d.Ending.Reason != v1alpha1.ReasonGuardStopped || !strings.Contains(d.Ending.Message, "NOSPACE") || d.Finish != nil {
		t.Fatalf("wanted the run to end as GuardStopped, found %+v", d)
	}
	kept := scenario(startSet(t0), pod(0, fired), func(o *Observed) { o.Run.Status.Ending, o.Seen.Ending = d.Ending, t0 })
	if got, want := acts(Decide(kept, t0.Add(time.Second))), "Annotate a stop, Annotate b stop"; got != want {
		t.Errorf("wanted %q, found %q", want, got)
	}
	if got := Decide(kept, t0.Add(time.Second+stopGrace)).Finish; got == nil || got.Reason != v1alpha1.ReasonGuardStopped {
		t.Errorf("wanted it to finish once the grace of a stop is over, found %+v", got)
	}
}

// A stop by the user is a better reason than a guard.
func TestAStopComesBeforeAGuard(t *testing.T) {
	d := Decide(scenario(startSet(t0), pod(0, fired), func(o *Observed) { o.Run.Spec.Stop = true }), t0.Add(time.Second))
	if d.Ending == nil || d.Ending.Reason != v1alpha1.ReasonStopped {
		t.Errorf("wanted Stopped, found %+v", d.Ending)
	}
}

// Client pod 0 observes the target until it has deleted its keys. A rule that fires after the load has ended nothing.
func TestAGuardThatFiresAfterTheLoadEndsNothing(t *testing.T) {
	late := &results.Fired{Rule: spec.GuardAlarm, Subject: "etcd-0", Detail: "NOSPACE", At: t0}
	deleting := scenario(done, pod(0, func(p *Pod) { p.Final, p.Live = nil, &results.Snapshot{Stage: results.StageCleaning, Fired: late} }))
	if d := Decide(deleting, t0.Add(time.Second)); d.Ending != nil || d.Finish != nil {
		t.Errorf("wanted the run to go on, found %+v", d)
	}
	loading := scenario(startSet(t0), pod(0, func(p *Pod) { p.Live = &results.Snapshot{Stage: results.StageCleaning, Fired: late} }))
	if d := Decide(loading, t0.Add(time.Second)); d.Ending == nil || d.Ending.Reason != v1alpha1.ReasonGuardStopped {
		t.Errorf("wanted the load of the others to end, found %+v", d)
	}
}
