package fast

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The methods that connections call, by their index in methods.
const (
	methodRange = iota
	methodPut
	methodDeleteRange
)

var methods = []string{
	methodRange:       "/etcdserverpb.KV/Range",
	methodPut:         "/etcdserverpb.KV/Put",
	methodDeleteRange: "/etcdserverpb.KV/DeleteRange",
}

// call is what etcd has for an operation: its method, its response, its counter.
type call struct {
	method int
	kind   message.Kind
	rpc    results.RPC
}

func callOf(r *load.Request) call {
	switch r.Operation {
	case results.OperationPut:
		return call{methodPut, message.KindPut, results.RPCPut}
	case results.OperationDelete:
		return call{methodDeleteRange, message.KindDeleteRange, results.RPCDeleteRange}
	default:
		return call{methodRange, message.KindRange, results.RPCRange}
	}
}

func appendRequest(dst []byte, r *load.Request) []byte {
	switch r.Operation {
	case results.OperationPut:
		put := message.Put{Key: r.Key, Value: r.Value}
		return put.Append(dst)
	case results.OperationDelete:
		deletion := message.DeleteRange{Key: r.Key}
		return deletion.Append(dst)
	default:
		read := message.Range{
			Key: r.Key, End: r.End, Limit: r.Limit,
			Serializable: r.Serializable, KeysOnly: r.KeysOnly, CountOnly: r.CountOnly,
		}
		return read.Append(dst)
	}
}
