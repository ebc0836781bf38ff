package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestMergeKeepsTheRuleThatFiredFirst(t *testing.T) {
	first := &Fired{Rule: spec.GuardAlarm, At: testStart}
	second := &Fired{Rule: spec.GuardErrorRatio, At: testStart.Add(1)}
	for _, order := range [][]*Snapshot{
		{{Fired: first}, {Fired: second}, {}},
		{{}, {Fired: second}, {Fired: first}},
	} {
		if got := Merge(order).Fired; got != first {
			t.Errorf("got %+v, wanted the first", got)
		}
	}
}

func TestMergeSaysWhatWasUnwatchedAnywhere(t *testing.T) {
	a := &Snapshot{Unwatched: map[spec.GuardRule]string{spec.GuardWALFsync: "a", spec.GuardAlarm: "c"}}
	b := &Snapshot{Unwatched: map[spec.GuardRule]string{spec.GuardWALFsync: "b"}}
	want := map[spec.GuardRule]string{spec.GuardWALFsync: "a", spec.GuardAlarm: "c"}
	for _, order := range [][]*Snapshot{{a, b}, {b, a}} {
		if diff := cmp.Diff(want, Merge(order).Unwatched); diff != "" {
			t.Errorf("unwatched (-want +got):\n%s", diff)
		}
	}
}
