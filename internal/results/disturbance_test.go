package results

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// What one pod has done survives the merge with those that did nothing, and the
// merge changes no pod's.
func TestDisturbancesAreMerged(t *testing.T) {
	one, other := finalSnapshot(0, 10, OperationPut), finalSnapshot(1, 10, OperationPut)
	one.disturbance(DisturbanceCompact).Record(Mark{After: time.Second, Took: time.Millisecond}, "")
	for range 2 {
		merged := Merge([]*Snapshot{other, one, nil})
		if diff := cmp.Diff(one.Disturbances, merged.Disturbances); diff != "" {
			t.Errorf("disturbances (-want +got):\n%s", diff)
		}
	}
	if s := Summarize([]*Snapshot{one, other}); s.Disturbances[DisturbanceCompact].Count != 1 {
		t.Errorf("the summary has %+v", s.Disturbances)
	}
}

// Without room for marks a message still says how many there were.
func TestAMessageKeepsTheCountOfDisturbances(t *testing.T) {
	s := failingSnapshot()
	for i := range MaxMarks {
		s.disturbance(DisturbanceDefragment).Record(Mark{After: time.Duration(i) * 1_234_567_891, Took: time.Duration(i*i) * 9_876_543, Member: "8e9e05c52164694d"}, "")
	}
	few := finalSnapshot(0, 10, OperationPut)
	few.disturbance(DisturbanceCompact).Record(Mark{After: time.Second, Took: time.Millisecond}, "too late")
	for _, sent := range []*Snapshot{s, few} {
		got, err := DecodeTerminationMessage(sent.TerminationMessage())
		if err != nil {
			t.Fatal(err)
		}
		for kind, want := range sent.Disturbances {
			d := got.Disturbances[kind]
			if d == nil || d.Count != want.Count || d.Took != want.Took || d.Problem != want.Problem {
				t.Errorf("%s: wanted %+v, got %+v", kind, want, d)
			}
			if sent == few && len(d.Marks) != 1 {
				t.Errorf("a mark got lost though there was room: %+v", d)
			}
		}
	}
}

func TestDecodeRefusesDisturbances(t *testing.T) {
	for name, spoil := range map[string]func(*Snapshot){
		"an unknown kind": func(s *Snapshot) { s.disturbance("Reboot").Count = 1 },
		"too many marks": func(s *Snapshot) {
			s.disturbance(DisturbanceCompact).Count, s.disturbance(DisturbanceCompact).Marks = MaxMarks+1, make([]Mark, MaxMarks+1)
		},
		"a mark of none": func(s *Snapshot) { s.disturbance(DisturbanceCompact).Marks = []Mark{{}} },
		"more failed than begun": func(s *Snapshot) {
			s.disturbance(DisturbanceCompact).Count, s.disturbance(DisturbanceCompact).Failed = 1, 2
		},
		"more marks than were": func(s *Snapshot) {
			s.disturbance(DisturbanceCompact).Count, s.disturbance(DisturbanceCompact).Marks = 1, make([]Mark, 2)
		},
	} {
		s := finalSnapshot(0, 10, OperationPut)
		spoil(s)
		if got, err := Decode(s.Families()); err == nil {
			t.Errorf("%s: read %+v", name, got.Disturbances)
		}
	}
}
