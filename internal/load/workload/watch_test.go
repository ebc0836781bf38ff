package workload

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func watchWorkload(watch plan.Watch, keys int64) (*Workload, plan.Plan) {
	p := plan.Plan{Pods: 2, Prefix: "p/", Load: plan.Load{Seed: 5, Connections: 2, Clients: 2, Requests: 10}}
	p.Workload = plan.Workload{
		Type: plan.WorkloadWatch, KeySize: 4, ValueSize: 40, KeyCount: keys, KeyOrder: plan.KeyOrderSequential, Watch: &watch,
	}
	return New(p), p
}

func TestAMarkSurvivesInAValue(t *testing.T) {
	w, _ := watchWorkload(plan.Watch{Streams: 2, WatchersPerStream: 1}, 3)
	op := w.At(Measured, 1<<40)
	value := w.AppendMarked([]byte("x"), op, 77)
	got, ok := MarkOf(value[1:])
	if want := (Mark{Stream: Measured, Pod: 77, Sequence: 1 << 40}); !ok || got != want {
		t.Errorf("got the mark %+v (%v), wanted %+v", got, ok, want)
	}
	if len(value) != 41 || !bytes.Equal(value[17:], w.Value(op.Value)[16:]) {
		t.Errorf("the value %x is not %x behind its mark", value[1:], w.Value(op.Value))
	}
	if _, ok := MarkOf(value[:15]); ok {
		t.Error("15 bytes have a mark")
	}
}

// Together, the pods have each watcher once.
func TestWatchersOfPods(t *testing.T) {
	w, p := watchWorkload(plan.Watch{Streams: 3, WatchersPerStream: 2}, 4)
	want := [][][]int{{{0, 1}, {4, 5}}, {{2, 3}}}
	for index := range want {
		part, err := p.Part(index)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[index], w.Watchers(part)); diff != "" {
			t.Errorf("watchers of pod %d (-want +got):\n%s", index, diff)
		}
	}
	if key, one := w.WatchedKey(5); key != 1 || !one {
		t.Errorf("watcher 5 of four keys watches %d (%v)", key, one)
	}
}
