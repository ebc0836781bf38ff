//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// refusal is a target that a run must not load: it is hurt before the run exists,
// and heals, so that it can be looked at, once the run has ended.
type refusal struct {
	members   int
	etcdFlags []string
	// hurt returns what heals the target again.
	hurt func(*testing.T, victim) (heal func())
	// reason of the run's end, and what its message says.
	reason, says string
}

// refusalFaults are of targets that are dangerous to load, or that a load would
// be dangerous to.
func refusalFaults() map[string]fault {
	return map[string]fault{
		"quorum lost before the run": refusal{
			members: 3, hurt: pauseMajority, reason: v1alpha1.ReasonNoQuorum, says: "1 of 3 addresses answer",
		}.fault(),
		"alarm raised before the run": refusal{
			etcdFlags: []string{"--quota-backend-bytes=" + strconv.Itoa(smallQuota)},
			hurt:      raiseAlarm, reason: v1alpha1.ReasonAlarmRaised, says: "NOSPACE",
		}.fault(),
		"keys of a control plane": refusal{
			hurt: putControlPlane, reason: v1alpha1.ReasonControlPlaneTarget, says: "/registry/",
		}.fault(),
		"keys of a control plane that is acknowledged": {
			start: func(t *testing.T, v victim) { putControlPlane(t, v)(); create(t, v.run) }, strike: nothing, change: acknowledge,
			in: map[string]outcome{v1alpha1.StagePreparing: {
				reason: v1alpha1.ReasonCompleted, measured: 3000, reported: []int{0, 1}, did: []int{0, 1},
			}},
		},
	}
}

// fault is the refusal, in the terms of all faults. What a run meets in Preparing
// has been there before.
func (r refusal) fault() fault {
	return fault{
		members: r.members, etcdFlags: r.etcdFlags, strike: nothing, start: r.refuse,
		in: map[string]outcome{v1alpha1.StagePreparing: {reason: r.reason, says: r.says, result: early}},
	}
}

// nothing happens beyond what was there before the run.
func nothing(*testing.T, victim) {}

// refuse wants the run to have ended, and to have written nothing, while the
// target is hurt still.
func (r refusal) refuse(t *testing.T, v victim) {
	heal := r.hurt(t, v)
	b := awaitEnd(t, create(t, v.run))
	requireReason(t, b, r.reason)
	if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionStalled) {
		t.Errorf("wanted Stalled=True, found %+v", b.Status.Conditions)
	}
	if err := wantReason(b, v1alpha1.ConditionCleaned, v1alpha1.ReasonNothingWritten); err != nil {
		t.Error(err)
	}
	if knowable := knowableSince(t, b); b.Status.CompletionTime.Sub(knowable) > failWithin {
		t.Errorf("it took from %v to %v until the run had ended; wanted at most %s", knowable, b.Status.CompletionTime, failWithin)
	}
	heal()
}

// pauseMajority pauses two of three members, the leader among them. They are let
// go in any case: a member that is stopped does not end with its pod.
func pauseMajority(t *testing.T, v victim) (heal func()) {
	pids := choice(majority).processes(t, v)
	for _, pid := range pids {
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, 2*time.Minute, "a leader", func(context.Context) error { _, err := v.target.leader(); return err })
		eventually(t, 2*time.Minute, "all members to be ready again", v.target.ready)
	}
}

// raiseAlarm fills the quota, and has the alarm disarmed in the end.
func raiseAlarm(t *testing.T, v victim) (heal func()) {
	fillQuota(t, v)
	return func() {
		if _, err := v.target.etcdctl("alarm", "disarm"); err != nil {
			t.Fatal(err)
		}
		if left, err := v.target.etcdctl("alarm", "list"); err != nil || left != "" {
			t.Errorf("wanted no alarm to be left, found %q (%v)", left, err)
		}
	}
}

// putControlPlane writes keys as an API server has them, which then belong to
// what no run may change.
func putControlPlane(t *testing.T, v victim) (heal func()) {
	var keys []string
	for i := range 3 {
		keys = append(keys, fmt.Sprintf("/registry/configmaps/default/c%d", i))
	}
	maps.Copy(v.before, putNeighbours(t, v.target, keys))
	return func() {}
}

// acknowledge says that a control plane's etcd is what is meant.
func acknowledge(b *v1alpha1.EtcdBenchmark) {
	b.Spec.Guard = &spec.Guard{AcknowledgeControlPlane: true}
}
