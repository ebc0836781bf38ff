package fast

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The methods that connections call, by their index in methods.
const (
	methodRange = iota
	methodPut
	methodDeleteRange
	methodTxn
	methodLeaseGrant
	methodLeaseRevoke
)

var methods = []string{
	methodRange:       "/etcdserverpb.KV/Range",
	methodPut:         "/etcdserverpb.KV/Put",
	methodDeleteRange: "/etcdserverpb.KV/DeleteRange",
	methodTxn:         "/etcdserverpb.KV/Txn",
	methodLeaseGrant:  "/etcdserverpb.Lease/LeaseGrant",
	methodLeaseRevoke: "/etcdserverpb.Lease/LeaseRevoke",
}

// call is what etcd has for an operation: its method, its response, its counter,
// and how its request is appended to dst.
type call struct {
	method int
	kind   message.Kind
	rpc    results.RPC
	append func(dst []byte, a *Lane) []byte
}

var (
	rangeCall  = &call{methodRange, message.KindRange, results.RPCRange, appendRange}
	putCall    = &call{methodPut, message.KindPut, results.RPCPut, appendPut}
	deleteCall = &call{methodDeleteRange, message.KindDeleteRange, results.RPCDeleteRange, appendDelete}
	txnCall    = &call{methodTxn, message.KindTxn, results.RPCTxn, appendTxn}
	grantCall  = &call{methodLeaseGrant, message.KindLeaseGrant, results.RPCLeaseGrant, appendGrant}
	revokeCall = &call{methodLeaseRevoke, message.KindLeaseRevoke, results.RPCLeaseRevoke, appendRevoke}
	// A compare-and-swap takes two calls, see Lane.swap.
	lookCall = &call{methodRange, message.KindRangeOfOne, results.RPCRange, appendLook}
	swapCall = &call{methodTxn, message.KindTxn, results.RPCTxn, appendSwap}
)

// callOf returns the first call of an operation.
func callOf(o results.Operation) *call {
	switch o {
	case results.OperationPut:
		return putCall
	case results.OperationDelete:
		return deleteCall
	case results.OperationTxn:
		return txnCall
	case results.OperationCompareAndSwap:
		return lookCall
	case results.OperationLeaseGrant:
		return grantCall
	case results.OperationLeaseRevoke:
		return revokeCall
	default:
		return rangeCall
	}
}

func appendRange(dst []byte, a *Lane) []byte {
	r := a.request
	read := message.Range{
		Key: r.Key, End: r.End, Limit: r.Limit,
		Serializable: r.Serializable, KeysOnly: r.KeysOnly, CountOnly: r.CountOnly,
	}
	return read.Append(dst)
}

func appendPut(dst []byte, a *Lane) []byte {
	put := message.Put{Key: a.request.Key, Value: a.request.Value}
	return put.Append(dst)
}

func appendDelete(dst []byte, a *Lane) []byte {
	deletion := message.DeleteRange{Key: a.request.Key}
	return deletion.Append(dst)
}

func appendTxn(dst []byte, a *Lane) []byte {
	for i := range a.request.Pairs {
		put := message.Put{Key: a.request.Pairs[i].Key, Value: a.request.Pairs[i].Value}
		dst = put.AppendThen(dst)
	}
	return dst
}

func appendGrant(dst []byte, a *Lane) []byte {
	grant := message.LeaseGrant{ID: a.request.Lease, Seconds: a.request.TTLSeconds}
	return grant.Append(dst)
}

func appendRevoke(dst []byte, a *Lane) []byte {
	revocation := message.LeaseRevoke{ID: a.request.Lease}
	return revocation.Append(dst)
}
