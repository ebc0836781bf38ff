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
)

var methods = []string{
	methodRange: "/etcdserverpb.KV/Range",
	methodPut:   "/etcdserverpb.KV/Put",
}

func methodOf(r *load.Request) int {
	if r.Operation == results.OperationPut {
		return methodPut
	}
	return methodRange
}

func kindOf(r *load.Request) message.Kind {
	if r.Operation == results.OperationPut {
		return message.KindPut
	}
	return message.KindRange
}

func rpcOf(r *load.Request) results.RPC {
	if r.Operation == results.OperationPut {
		return results.RPCPut
	}
	return results.RPCRange
}

func appendRequest(dst []byte, r *load.Request) []byte {
	if r.Operation == results.OperationPut {
		put := message.Put{Key: r.Key, Value: r.Value}
		return put.Append(dst)
	}
	read := message.Range{Key: r.Key, Serializable: r.Serializable}
	return read.Append(dst)
}
