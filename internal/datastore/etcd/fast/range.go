package fast

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
)

// RangeCall reads a key, or several consecutive keys, in one response.
var RangeCall = &Call{
	Method: MethodRange, Read: (*message.Reply).ReadRange, Done: (*Request).Found,
	Append: func(dst []byte, r *Request) []byte {
		read := message.Range{
			Key: r.Key, End: r.End, Limit: r.Options.Limit,
			Serializable: r.Consistency == spec.Serializable, KeysOnly: r.Options.KeysOnly, CountOnly: r.Options.CountOnly,
		}
		return read.Append(dst)
	},
}
