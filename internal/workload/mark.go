package workload

import (
	"encoding/binary"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Mark, at the beginning of a watched value, identifies the pod that put it. A watcher can time only events of its own
// pod, because they share a clock.
type Mark struct {
	// Stream is 0 for values written before the load.
	Stream Stream
	Pod    int
	// Sequence is the number of the operation in its stream.
	Sequence int64
}

// AppendMarked appends the value of an operation, with its first bytes replaced by the mark of the pod.
func (w *Workload) AppendMarked(dst []byte, op Operation, pod int) []byte {
	at := len(dst)
	dst = w.AppendValue(dst, op.Value)
	if op.Subject == OnObject {
		dst = dst[:at+w.registry.size(op.Resource)]
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(pod))
	binary.BigEndian.PutUint32(dst[at+4:], uint32(op.Stream))
	binary.BigEndian.PutUint64(dst[at+8:], uint64(op.Value))
	return dst
}

// Marked reports whether the values of the workload carry marks.
func (w *Workload) Marked() bool { return w.marked }

// MarkOf reads the mark of a value; false if the value is too short for one.
func MarkOf(value []byte) (Mark, bool) {
	if len(value) < spec.MinMarkedValue {
		return Mark{}, false
	}
	return Mark{
		Pod:      int(binary.BigEndian.Uint32(value)),
		Stream:   Stream(binary.BigEndian.Uint32(value[4:])),
		Sequence: int64(binary.BigEndian.Uint64(value[8:])),
	}, true
}
