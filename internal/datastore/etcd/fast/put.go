package fast

import "github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"

// PutCall writes a key.
var PutCall = &Call{
	Method: MethodPut, Read: (*message.Reply).ReadPlain,
	Append: func(dst []byte, r *Request) []byte {
		put := message.Put{Key: r.Key, Value: r.Value}
		return put.Append(dst)
	},
}
