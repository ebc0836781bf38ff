package wire

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A message without room for marks keeps the counts.
func TestAMessageKeepsTheCountOfDisturbances(t *testing.T) {
	s := failingSnapshot()
	for i := range results.MaxMarks {
		s.Disturbance(spec.DisturbanceDefragment).Record(results.Mark{After: time.Duration(i) * 1_234_567_891, Took: time.Duration(i*i) * 9_876_543, Member: "8e9e05c52164694d"}, "")
	}
	few := finalSnapshot(0, 10, spec.OperationPut)
	few.Disturbance(spec.DisturbanceCompact).Record(results.Mark{After: time.Second, Took: time.Millisecond}, "too late")
	for _, sent := range []*results.Snapshot{s, few} {
		got, err := DecodeTerminationMessage(TerminationMessage(sent))
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
	for name, spoil := range map[string]func(*results.Snapshot){
		"an unknown kind": func(s *results.Snapshot) { s.Disturbance("Reboot").Count = 1 },
		"too many marks": func(s *results.Snapshot) {
			s.Disturbance(spec.DisturbanceCompact).Count, s.Disturbance(spec.DisturbanceCompact).Marks = results.MaxMarks+1, make([]results.Mark, results.MaxMarks+1)
		},
		"a mark of none": func(s *results.Snapshot) { s.Disturbance(spec.DisturbanceCompact).Marks = []results.Mark{{}} },
		"more failed than begun": func(s *results.Snapshot) {
			s.Disturbance(spec.DisturbanceCompact).Count, s.Disturbance(spec.DisturbanceCompact).Failed = 1, 2
		},
		"more marks than were": func(s *results.Snapshot) {
			s.Disturbance(spec.DisturbanceCompact).Count, s.Disturbance(spec.DisturbanceCompact).Marks = 1, make([]results.Mark, 2)
		},
	} {
		s := finalSnapshot(0, 10, spec.OperationPut)
		spoil(s)
		if got, err := Decode(withTimeline(s)); err == nil {
			t.Errorf("%s: read %+v", name, got.Disturbances)
		}
	}
}
