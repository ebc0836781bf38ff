package load

import (
	"sync"
	"sync/atomic"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// RequestCounter counts requests by RPC and phase; drivers count with it, once
// for each attempt. The zero value is ready and safe for concurrent use.
type RequestCounter struct {
	counts sync.Map // of requestKind to *atomic.Uint64
}

type requestKind struct {
	rpc   results.RPC
	phase results.Phase
}

// Of returns the counter of one kind of request, for callers that keep it.
func (c *RequestCounter) Of(rpc results.RPC, phase results.Phase) *atomic.Uint64 {
	kind := requestKind{rpc, phase}
	if n, ok := c.counts.Load(kind); ok {
		return n.(*atomic.Uint64)
	}
	n, _ := c.counts.LoadOrStore(kind, new(atomic.Uint64))
	return n.(*atomic.Uint64)
}

// Add counts one request.
func (c *RequestCounter) Add(rpc results.RPC, phase results.Phase) { c.Of(rpc, phase).Add(1) }

// Counts returns what was counted so far.
func (c *RequestCounter) Counts() map[results.RPC]map[results.Phase]uint64 {
	all := map[results.RPC]map[results.Phase]uint64{}
	c.counts.Range(func(k, v any) bool {
		kind := k.(requestKind)
		if all[kind.rpc] == nil {
			all[kind.rpc] = map[results.Phase]uint64{}
		}
		all[kind.rpc][kind.phase] = v.(*atomic.Uint64).Load()
		return true
	})
	return all
}
