package load

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// RequestCounter counts requests by RPC and phase; drivers count with it, once
// for each attempt. The zero value is ready and safe for concurrent use.
type RequestCounter struct {
	// counts is replaced, never changed, when a kind is seen for the first
	// time: counting needs no lock and no allocation.
	counts  atomic.Pointer[map[requestKind]*atomic.Uint64]
	growing sync.Mutex
}

type requestKind struct {
	rpc   results.RPC
	phase results.Phase
}

// Add counts one request.
func (c *RequestCounter) Add(rpc results.RPC, phase results.Phase) {
	kind := requestKind{rpc, phase}
	n, ok := c.load()[kind]
	if !ok {
		n = c.grow(kind)
	}
	n.Add(1)
}

// Counts returns what was counted so far.
func (c *RequestCounter) Counts() map[results.RPC]map[results.Phase]uint64 {
	all := map[results.RPC]map[results.Phase]uint64{}
	for kind, n := range c.load() {
		if all[kind.rpc] == nil {
			all[kind.rpc] = map[results.Phase]uint64{}
		}
		all[kind.rpc][kind.phase] = n.Load()
	}
	return all
}

func (c *RequestCounter) load() map[requestKind]*atomic.Uint64 {
	if counts := c.counts.Load(); counts != nil {
		return *counts
	}
	return nil
}

func (c *RequestCounter) grow(kind requestKind) *atomic.Uint64 {
	c.growing.Lock()
	defer c.growing.Unlock()
	if n, ok := c.load()[kind]; ok {
		return n
	}
	grown := map[requestKind]*atomic.Uint64{kind: new(atomic.Uint64)}
	maps.Copy(grown, c.load())
	c.counts.Store(&grown)
	return grown[kind]
}
