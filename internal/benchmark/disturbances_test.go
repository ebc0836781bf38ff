package benchmark

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func disturbed(b *v1alpha1.EtcdBenchmark) {
	b.Spec.Guard = &v1alpha1.Guard{AllowStoreWide: true}
	b.Spec.Disturbances = []v1alpha1.Disturbance{
		{Type: v1alpha1.DisturbanceCompact, EverySeconds: 3, Compact: &v1alpha1.CompactSettings{KeepRevisions: 0}},
		{Type: v1alpha1.DisturbanceDefragment, EverySeconds: 4},
	}
}

func TestPlanOfDisturbances(t *testing.T) {
	p, err := Plan(putRun(disturbed), []string{"etcd:2379"})
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Disturbance{{Kind: plan.DisturbanceCompact, EverySeconds: 3}, {Kind: plan.DisturbanceDefragment, EverySeconds: 4}}
	if diff := cmp.Diff(want, p.Disturbances); diff != "" || !p.Guard.AllowStoreWide {
		t.Errorf("allowed %t, disturbances (-want +got):\n%s", p.Guard.AllowStoreWide, diff)
	}
	p, err = Plan(putRun(disturbed, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Disturbances[0].Compact = nil }), []string{"etcd:2379"})
	if err != nil || p.Disturbances[0].KeepRevisions != v1alpha1.DefaultKeepRevisions {
		t.Errorf("without settings the plan is %+v (%v)", p.Disturbances, err)
	}
}

// A storm needs leases of the run's own, which whoever cleans up must know.
func TestPlanOfAStorm(t *testing.T) {
	run := putRun(func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Disturbances = []v1alpha1.Disturbance{{
			Type: v1alpha1.DisturbanceLeaseExpiry, EverySeconds: 5, LeaseExpiry: &v1alpha1.LeaseExpirySettings{Leases: 9, KeysPerLease: 8, TTLSeconds: 7},
		}}
	})
	p, err := Plan(run, []string{"etcd:2379"})
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Disturbance{{Kind: plan.DisturbanceLeaseExpiry, EverySeconds: 5, Storm: &plan.Storm{Leases: 9, KeysPerLease: 8, TTLSeconds: 7}}}
	if diff := cmp.Diff(want, p.Disturbances); diff != "" || p.FirstLease != run.FirstLease() || p.FirstLease == 0 {
		t.Errorf("first lease %x, disturbances (-want +got):\n%s", p.FirstLease, diff)
	}
	if !strings.Contains(run.RemovalCommand(), "lease revoke") {
		t.Errorf("the command to clean up forgets the leases: %s", run.RemovalCommand())
	}
}

func compacted(at ...time.Duration) map[results.DisturbanceKind]*results.Disturbance {
	d := &results.Disturbance{}
	for _, after := range at {
		d.Record(results.Mark{After: after, Took: 2 * time.Second}, "")
	}
	d.Problem, d.Failed, d.LeftOut = "no leader", 1, 3
	return map[results.DisturbanceKind]*results.Disturbance{results.DisturbanceCompact: d}
}

// What was asked for and never was, is told, too.
func TestDisturbancesAreSummarized(t *testing.T) {
	got := Summary(putRun(disturbed), results.Summary{Disturbances: compacted(3*time.Second, 6*time.Second)}).Disturbances
	want := []v1alpha1.DisturbanceSummary{
		{
			Type: v1alpha1.DisturbanceCompact, Count: 2, Failed: 1, LeftOut: 3, Problem: "no leader", MeanMicroseconds: 2_000_000, MaxMicroseconds: 2_000_000,
			Marks: []v1alpha1.DisturbanceMark{
				{AfterMicroseconds: 3_000_000, TookMicroseconds: 2_000_000}, {AfterMicroseconds: 6_000_000, TookMicroseconds: 2_000_000},
			},
		},
		{Type: v1alpha1.DisturbanceDefragment},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("disturbances (-want +got):\n%s", diff)
	}
}

func TestTheTableShowsDisturbances(t *testing.T) {
	timeline := &Timeline{IntervalSeconds: 1}
	for range 10 {
		timeline.Points = append(timeline.Points, TimelinePoint{Succeeded: 100, MaxLatencyMicroseconds: 2000})
	}
	run := finished([]*results.Snapshot{measured(0, 10)}, disturbed)
	run.Status.Summary.DurationMicroseconds = 10_000_000
	run.Status.Summary.Disturbances = disturbanceSummaries(run, compacted(3100*time.Millisecond, 9900*time.Millisecond))
	var out strings.Builder
	if err := WriteTable(&out, run, timeline); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"compact          ···C──···C\n",
		"DISTURBANCE  COUNT  FAILED  LEFT OUT  MEAN  LONGEST\n",
		"Compact          2       1         3    2s       2s\n",
		"Defragment       0       0         0  none     none\n",
		"Compact: no leader\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "defragment  ") {
		t.Errorf("what never was is drawn:\n%s", out.String())
	}
}

func TestWhatDidNotHappenIsAWarning(t *testing.T) {
	never, always := results.Summary{Length: 2500 * time.Millisecond}, results.Summary{Disturbances: compacted(3 * time.Second)}
	always.Disturbances[results.DisturbanceDefragment] = &results.Disturbance{Count: 1}
	all := results.Summary{Disturbances: map[results.DisturbanceKind]*results.Disturbance{
		results.DisturbanceCompact: {Count: 1}, results.DisturbanceDefragment: {Count: 1, Failed: 1},
	}}
	for name, tc := range map[string]struct {
		summary results.Summary
		want    []string
	}{
		"none":     {never, []string{"no disturbance of type Compact: the first was due 3 s after", "of type Defragment: the first was due 4 s after"}},
		"left out": {always, []string{"of type Compact, 3 disturbances left out, because the one before still went on: one took up to 2s, and everySeconds is 3"}},
		"all":      {all, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Summary(putRun(disturbed), tc.summary).Warnings
			if len(got) != len(tc.want) {
				t.Fatalf("got the warnings %q, wanted %d", got, len(tc.want))
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("got the warning %q, wanted %q in it", got[i], want)
				}
			}
		})
	}
}
