package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func appendingTo(entry int32) func(*Run) {
	return func(r *Run) {
		r.Workload = spec.Workload{Type: spec.WorkloadAppend, Append: &spec.Append{EntryBytes: entry}}
		r.Load.Connections, r.Load.Clients = r.Load.Pods, r.Load.Pods
		r.Prefix = ""
	}
}

// Every entry has the same length, and two have different bytes, so that no disk compresses them.
func TestEntriesOfALog(t *testing.T) {
	r := valid()
	appendingTo(2300)(&r)
	w := New(r)
	first, second := w.At(Measured, 0), w.At(Measured, 1)
	a, b := w.Value(first.Value), w.Value(second.Value)
	if first.Subject != OnLog || len(a) != 2300 || len(b) != 2300 || string(a) == string(b) {
		t.Errorf("entries of %d and %d bytes of subject %d, wanted two different ones of 2300", len(a), len(b), first.Subject)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	if err := r.CheckStore(spec.Disk); err != nil {
		t.Error(err)
	}
	if r.CheckStore(spec.Etcd) == nil {
		t.Error("etcd serves no log: wanted an error")
	}
}

// A log has one writer.
func TestALogHasOneClientPerPod(t *testing.T) {
	for name, change := range map[string]func(*Run){
		"two clients":     func(r *Run) { r.Load.Clients++ },
		"two connections": func(r *Run) { r.Load.Connections, r.Load.Clients = r.Load.Connections+1, r.Load.Clients+1 },
		"no bytes":        func(r *Run) { r.Workload.Append.EntryBytes = 0 },
		"too many bytes":  func(r *Run) { r.Workload.Append.EntryBytes = spec.MaxEntryBytes + 1 },
	} {
		r := valid()
		appendingTo(2300)(&r)
		if change(&r); r.Check() == nil && r.CheckStore(spec.Disk) == nil {
			t.Errorf("%s: wanted an error", name)
		}
	}
}
