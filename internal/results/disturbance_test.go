package results

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestMarksAreBounded(t *testing.T) {
	d := &Disturbance{LeftOut: 7}
	for i := range 3 * MaxMarks {
		problem := ""
		if i%2 == 1 {
			problem = "no leader"
		}
		d.Record(Mark{After: time.Duration(i), Took: time.Duration(i + 1)}, problem)
	}
	if d.Count != 3*MaxMarks || d.Failed != 3*MaxMarks/2 || d.Longest != 3*MaxMarks || len(d.Marks) != MaxMarks || d.Problem != "no leader" {
		t.Errorf("got %d of which %d failed, longest %d, %d marks", d.Count, d.Failed, d.Longest, len(d.Marks))
	}
	for i, m := range d.Marks {
		if m.After != time.Duration(i) {
			t.Fatalf("mark %d is %+v: wanted the first ones", i, m)
		}
	}
	if diff := cmp.Diff(d, d.Clone()); diff != "" {
		t.Errorf("the copy differs (-want +got):\n%s", diff)
	}
}

// Merging keeps the disturbances of one pod and does not change the inputs.
func TestDisturbancesAreMerged(t *testing.T) {
	one, other := finalSnapshot(0, 10, spec.OperationPut), finalSnapshot(1, 10, spec.OperationPut)
	one.Disturbance(spec.DisturbanceCompact).Record(Mark{After: time.Second, Took: time.Millisecond}, "")
	for range 2 {
		merged := Merge([]*Snapshot{other, one, nil})
		if diff := cmp.Diff(one.Disturbances, merged.Disturbances); diff != "" {
			t.Errorf("disturbances (-want +got):\n%s", diff)
		}
	}
	if s := Summarize([]*Snapshot{one, other}); s.Disturbances[spec.DisturbanceCompact].Count != 1 {
		t.Errorf("the summary has %+v", s.Disturbances)
	}
}
