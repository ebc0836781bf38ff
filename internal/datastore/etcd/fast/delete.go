package fast

import "github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"

// DeleteCall deletes a key.
var DeleteCall = &Call{
	Method: MethodDeleteRange, Read: (*message.Reply).ReadDeleteRange, Done: (*Request).Found,
	Append: func(dst []byte, r *Request) []byte {
		deletion := message.DeleteRange{Key: r.Key}
		return deletion.Append(dst)
	},
}
