package faults

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// limits has one objective of each kind about members. Without a fault, members meet them with a wide margin; each
// fault breaks one.
func limits() []v1alpha1.Objective {
	within := func(d time.Duration) *v1alpha1.MemberDurationObjective {
		return &v1alpha1.MemberDurationObjective{Statistic: v1alpha1.MemberStatisticMean, MaxMicroseconds: d.Microseconds()}
	}
	none := &v1alpha1.MemberCountObjective{Max: 0}
	all := []v1alpha1.Objective{
		{Type: spec.ObjectiveWALFsync, WALFsync: within(slowFlush / 2)},
		{Type: spec.ObjectiveBackendCommit, BackendCommit: within(slowCommit / 2)},
		{Type: spec.ObjectivePeerRoundTrip, PeerRoundTrip: within(slowPeers)},
		{Type: spec.ObjectiveLeaderChanges, LeaderChanges: none},
		{Type: spec.ObjectiveSlowApplies, SlowApplies: none},
		{Type: spec.ObjectiveFailedProposals, FailedProposals: none},
		{Type: spec.ObjectiveMemberMemory, MemberMemory: &v1alpha1.MemberBytesObjective{MaxBytes: 100 << 20}},
		{Type: spec.ObjectiveMemberCPU, MemberCPU: &v1alpha1.MemberCPUObjective{MaxMillicores: 650}},
		{Type: spec.ObjectiveDatabaseGrowth, DatabaseGrowth: &v1alpha1.MemberBytesObjective{MaxBytes: 16 << 20}},
	}
	for i := range all {
		all[i].Name = objectiveName(all[i].Type)
	}
	return all
}

// objectiveName is a valid name for an objective.
func objectiveName(kind spec.ObjectiveType) string {
	return map[spec.ObjectiveType]string{
		spec.ObjectiveWALFsync: "wal-fsync", spec.ObjectiveBackendCommit: "backend-commit", spec.ObjectivePeerRoundTrip: "peer-round-trip",
		spec.ObjectiveLeaderChanges: "leader-changes", spec.ObjectiveSlowApplies: "slow-applies", spec.ObjectiveFailedProposals: "failed-proposals",
		spec.ObjectiveMemberMemory: "member-memory", spec.ObjectiveMemberCPU: "member-cpu", spec.ObjectiveDatabaseGrowth: "database-growth",
	}[kind]
}

// requireResults wants a result of the objectives of these types, or of all.
func requireResults(t *testing.T, run *v1alpha1.EtcdBenchmark, want v1alpha1.ObjectiveResult, kinds ...spec.ObjectiveType) {
	t.Helper()
	wanted := map[string]bool{}
	for _, kind := range kinds {
		wanted[objectiveName(kind)] = true
	}
	if len(run.Status.Objectives) != len(limits()) {
		t.Fatalf("%d objectives were judged, wanted %d", len(run.Status.Objectives), len(limits()))
	}
	for _, o := range run.Status.Objectives {
		if (len(kinds) == 0 || wanted[o.Name]) && o.Result != want {
			t.Errorf("objective %s is %s (got %s; %s), wanted %s", o.Name, o.Result, o.Got, o.Message, want)
		}
	}
}

// requireObjectives wants the objectives of a trial to be missed, the round trips of a single member to be unknown, and
// all others to be met.
func requireObjectives(t *testing.T, run *v1alpha1.EtcdBenchmark, tc trial) {
	t.Helper()
	alone := tc.fault.members <= 1
	for _, o := range limits() {
		switch {
		case slices.Contains(tc.mayMiss, o.Type):
		case slices.Contains(tc.missed, o.Type):
			requireResults(t, run, v1alpha1.ObjectiveMissed, o.Type)
		case alone && o.Type == spec.ObjectivePeerRoundTrip:
			requireResults(t, run, v1alpha1.ObjectiveUnknown, o.Type)
		default:
			requireResults(t, run, v1alpha1.ObjectiveMet, o.Type)
		}
	}
	if len(tc.missed) > 0 {
		requirePassed(t, run, metav1.ConditionFalse)
	}
}

func requirePassed(t *testing.T, run *v1alpha1.EtcdBenchmark, status metav1.ConditionStatus) {
	t.Helper()
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed); c == nil || c.Status != status {
		t.Errorf("Passed is %+v, wanted %s", c, status)
	}
}

// Three members have round trips between them, which are a part of every write.
func TestAloneObjectivesAreMetWithoutAFault(t *testing.T) {
	t.Parallel()
	requireResults(t, trial{fault: fault{members: 3}}.result(t), v1alpha1.ObjectiveMet)
}

// Objectives on a member without metrics are neither met nor missed.
func TestAloneObjectivesAreUnknownWithoutMetrics(t *testing.T) {
	t.Parallel()
	run := completed(t, puts(start(t, fault{flush: slowFlush, silent: true})), nil)
	requireResults(t, run, v1alpha1.ObjectiveUnknown)
	requirePassed(t, run, metav1.ConditionUnknown)
	if got := run.Status.Summary.Evidence; len(got) > 0 {
		t.Errorf("the evidence is %+v, wanted none", got)
	}
}
