package fast

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// TxnCall writes several keys in a transaction.
var TxnCall = &Call{
	Method: MethodTxn, Read: (*message.Reply).ReadTxn,
	Append: func(dst []byte, r *Request) []byte {
		for i := range r.Pairs {
			put := message.Put{Key: r.Pairs[i].Key, Value: r.Pairs[i].Value}
			dst = put.AppendThen(dst)
		}
		return dst
	},
}

// SwapCall begins a compare-and-swap: it reads a key. swapCall then writes the key if it is unchanged.
var SwapCall = &Call{
	Method: MethodRange, Read: (*message.Reply).ReadRangeOfOne,
	Append: func(dst []byte, r *Request) []byte {
		look := message.Range{Key: r.Key}
		return look.Append(dst)
	},
	Then: func(r *Request) *Call {
		if r.Reply.Pairs == 0 {
			return nil
		}
		return swapCall
	},
	Done: func(r *Request) (code, detail string) { return load.CodeNotFound, r.Missing(0) },
}

var swapCall = &Call{
	Method: MethodTxn, Read: (*message.Reply).ReadTxn,
	Append: func(dst []byte, r *Request) []byte {
		unchanged := message.Unchanged{Key: r.Key, Revision: r.Reply.ModRevision}
		put := message.Put{Key: r.Key, Value: r.Value}
		return put.AppendThen(unchanged.AppendIf(dst))
	},
	Done: func(r *Request) (code, detail string) {
		r.Response.Lost = !r.Reply.Succeeded
		return "", ""
	},
}
