package load

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// RequestCounter counts requests by RPC and phase, each attempt once. Drivers count with it. The zero value is ready
// and safe for concurrent use.
type RequestCounter struct {
	// counts is replaced, never changed, when a kind is first seen. So counting needs no lock and no allocation. There
	// are so few kinds that a linear search is faster than hashing.
	counts  atomic.Pointer[[]*requestCount]
	growing sync.Mutex
	resent  atomic.Uint64
}

// requestCount counts the requests of one kind.
type requestCount struct {
	rpc   spec.RPC
	phase results.Phase
	n     atomic.Uint64
}

// Add counts one request.
func (c *RequestCounter) Add(rpc spec.RPC, phase results.Phase) {
	k := c.find(rpc, phase)
	if k == nil {
		k = c.grow(rpc, phase)
	}
	k.n.Add(1)
}

// AddResent counts one of the requests that Add has counted as sent again. The target may not have seen the one before it.
func (c *RequestCounter) AddResent() { c.resent.Add(1) }

// Resent returns how many requests were counted as sent again.
func (c *RequestCounter) Resent() uint64 { return c.resent.Load() }

// Counts returns what was counted so far.
func (c *RequestCounter) Counts() map[spec.RPC]map[results.Phase]uint64 {
	all := map[spec.RPC]map[results.Phase]uint64{}
	for _, k := range c.load() {
		if all[k.rpc] == nil {
			all[k.rpc] = map[results.Phase]uint64{}
		}
		all[k.rpc][k.phase] = k.n.Load()
	}
	return all
}

func (c *RequestCounter) load() []*requestCount {
	if counts := c.counts.Load(); counts != nil {
		return *counts
	}
	return nil
}

func (c *RequestCounter) find(rpc spec.RPC, phase results.Phase) *requestCount {
	for _, k := range c.load() {
		if k.rpc == rpc && k.phase == phase {
			return k
		}
	}
	return nil
}

func (c *RequestCounter) grow(rpc spec.RPC, phase results.Phase) *requestCount {
	c.growing.Lock()
	defer c.growing.Unlock()
	if k := c.find(rpc, phase); k != nil {
		return k
	}
	k := &requestCount{rpc: rpc, phase: phase}
	grown := append(slices.Clone(c.load()), k)
	c.counts.Store(&grown)
	return k
}

// BodyCounter counts the bytes of the bodies of measured requests, each attempt once, and of their responses. The zero value
// is ready and safe for concurrent use.
type BodyCounter struct{ sent, received atomic.Uint64 }

// Add counts bytes of a request of this phase.
func (c *BodyCounter) Add(phase results.Phase, sent, received int) {
	if phase == results.PhaseMeasured {
		c.sent.Add(uint64(sent))
		c.received.Add(uint64(received))
	}
}

// Counts returns what was counted so far.
func (c *BodyCounter) Counts() results.Bodies {
	return results.Bodies{Sent: c.sent.Load(), Received: c.received.Load()}
}

// AddRequests returns the sum of counts of requests.
func AddRequests(all ...map[spec.RPC]map[results.Phase]uint64) map[spec.RPC]map[results.Phase]uint64 {
	sum := map[spec.RPC]map[results.Phase]uint64{}
	for _, counts := range all {
		for rpc, phases := range counts {
			if sum[rpc] == nil {
				sum[rpc] = map[results.Phase]uint64{}
			}
			for phase, n := range phases {
				sum[rpc][phase] += n
			}
		}
	}
	return sum
}
