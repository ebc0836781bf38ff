package fast

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
)

// A compare-and-swap reads a key and then writes it if nobody has since: two
// calls of one request, which has one timeout and was sent when the first call
// was.

func appendLook(dst []byte, a *Lane) []byte {
	look := message.Range{Key: a.request.Key}
	return look.Append(dst)
}

func appendSwap(dst []byte, a *Lane) []byte {
	unchanged := message.Unchanged{Key: a.request.Key, Revision: a.reply.ModRevision}
	put := message.Put{Key: a.request.Key, Value: a.request.Value}
	return put.AppendThen(unchanged.AppendIf(dst))
}

// swap makes the second call of a compare-and-swap when the first one has found
// the key, and says whether it does.
func (a *Lane) swap() bool {
	if a.call != lookCall || a.reply.Pairs == 0 {
		return false
	}
	a.call, a.link = swapCall, nil
	a.conn.submit(a)
	return true
}

// outcome says how a request has ended whose last call succeeded.
func (a *Lane) outcome() (unary.Code, string) {
	switch a.call {
	case lookCall:
		return unary.NotFound, a.request.Missing(0)
	case swapCall:
		a.response.Lost = !a.reply.Succeeded
		return unary.OK, ""
	}
	if missing := a.request.Missing(a.reply.Count); missing != "" {
		return unary.NotFound, missing
	}
	return unary.OK, ""
}
