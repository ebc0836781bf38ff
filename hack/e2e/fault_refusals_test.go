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

// refusal is a target that a run must refuse. The target is impaired before the run exists, and repaired for inspection
// after the run has ended.
type refusal struct {
	members   int
	etcdFlags []string
	// hurt impairs the target and returns a function that repairs it.
	hurt func(*testing.T, victim) (heal func())
	// reason of the run's end, and a part of its message.
	reason, says string
}

// refusalFaults are targets that are dangerous to load, or that a load would endanger.
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
			start: func(t *testing.T, v victim) { putControlPlane(t, v)(); create(t, v.run) }, inject: nothing, change: acknowledge,
			in: map[string]outcome{v1alpha1.StagePreparing: {
				reason: v1alpha1.ReasonCompleted, measured: 3000, reported: []int{0, 1}, did: []int{0, 1},
			}},
		},
	}
}

// fault returns the refusal as a fault. The target is impaired before the run reaches Preparing.
func (r refusal) fault() fault {
	return fault{
		members: r.members, etcdFlags: r.etcdFlags, inject: nothing, start: r.refuse,
		in: map[string]outcome{v1alpha1.StagePreparing: {reason: r.reason, says: r.says, result: early}},
	}
}

// nothing has no effect: the impairment exists before the run.
func nothing(*testing.T, victim) {}

// refuse requires that the run has ended and has written nothing, while the target is still impaired.
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
		t.Errorf("the refusal was detectable at %v and the run ended at %v; wanted at most %s between them", knowable, b.Status.CompletionTime, failWithin)
	}
	heal()
}

// pauseMajority pauses two of three members, including the leader.
func pauseMajority(t *testing.T, v victim) (heal func()) {
	resume := freeze(t, choice(majority).processes(t, v)...)
	return func() {
		resume()
		eventually(t, 2*time.Minute, "a leader", func(context.Context) error { _, err := v.target.leader(); return err })
		eventually(t, 2*time.Minute, "all members to be ready again", v.target.ready)
	}
}

// freeze stops processes until resume. They are resumed at the end of the test in any case: a stopped process ignores
// SIGTERM, and does not end with its pod or its cluster.
func freeze(t *testing.T, pids ...int) (resume func()) {
	t.Helper()
	for _, pid := range pids {
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// raiseAlarm fills the quota; heal disarms the alarm.
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

// putControlPlane writes keys like those of an API server. They are foreign keys that no run may change.
func putControlPlane(t *testing.T, v victim) (heal func()) {
	var keys []string
	for i := range 3 {
		keys = append(keys, fmt.Sprintf("/registry/configmaps/default/c%d", i))
	}
	maps.Copy(v.before, putNeighbours(t, v.target, keys))
	return func() {}
}

// acknowledge sets the field that allows a control plane's etcd as target.
func acknowledge(b *v1alpha1.EtcdBenchmark) {
	b.Spec.Guard = &spec.Guard{AcknowledgeControlPlane: true}
}
