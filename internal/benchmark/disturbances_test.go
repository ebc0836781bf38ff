package benchmark

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestPlanOfDisturbances(t *testing.T) {
	p, err := Plan(runtest.Puts(runtest.Disturbed), []string{"etcd:2379"})
	if err != nil {
		t.Fatal(err)
	}
	want := []spec.Disturbance{
		{Type: spec.DisturbanceCompact, EverySeconds: 3, Compact: &spec.CompactSettings{KeepRevisions: 0}},
		{Type: spec.DisturbanceDefragment, EverySeconds: 4},
	}
	if diff := cmp.Diff(want, p.Disturbances); diff != "" || !p.Guard.AllowStoreWide || p.Disturbances[0].KeepRevisions() != 0 {
		t.Errorf("allowed %t, disturbances (-want +got):\n%s", p.Guard.AllowStoreWide, diff)
	}
	p, err = Plan(runtest.Puts(runtest.Disturbed, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Disturbances[0].Compact = nil }), []string{"etcd:2379"})
	if err != nil || p.Disturbances[0].KeepRevisions() != 1000 {
		t.Errorf("without settings the plan is %+v (%v)", p.Disturbances, err)
	}
}

// Lease expiry needs leases of the run, which the cleanup must find.
func TestPlanOfLeaseExpiry(t *testing.T) {
	run := runtest.Puts(func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Disturbances = []spec.Disturbance{{
			Type: spec.DisturbanceLeaseExpiry, EverySeconds: 5, LeaseExpiry: &spec.LeaseExpirySettings{Leases: 9, KeysPerLease: 8, TTLSeconds: 7},
		}}
	})
	p, err := Plan(run, []string{"etcd:2379"})
	if err != nil {
		t.Fatal(err)
	}
	want := []spec.Disturbance{{Type: spec.DisturbanceLeaseExpiry, EverySeconds: 5, LeaseExpiry: &spec.LeaseExpirySettings{Leases: 9, KeysPerLease: 8, TTLSeconds: 7}}}
	if diff := cmp.Diff(want, p.Disturbances); diff != "" || p.FirstLease != Run(run).FirstLease || p.FirstLease == 0 {
		t.Errorf("first lease %x, disturbances (-want +got):\n%s", p.FirstLease, diff)
	}
}

// A disturbance that never began has a summary, too.
func TestDisturbancesAreSummarized(t *testing.T) {
	got := Summary(runtest.Puts(runtest.Disturbed), results.Summary{Merged: &results.Snapshot{}, Disturbances: runtest.Compacted(3*time.Second, 6*time.Second)}).Disturbances
	want := []v1alpha1.DisturbanceSummary{
		{
			Type: spec.DisturbanceCompact, Count: 2, Failed: 1, LeftOut: 3, Problem: "no leader", MeanMicroseconds: 2_000_000, MaxMicroseconds: 2_000_000,
			Marks: []v1alpha1.DisturbanceMark{
				{AfterMicroseconds: 3_000_000, TookMicroseconds: 2_000_000}, {AfterMicroseconds: 6_000_000, TookMicroseconds: 2_000_000},
			},
		},
		{Type: spec.DisturbanceDefragment},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("disturbances (-want +got):\n%s", diff)
	}
}
