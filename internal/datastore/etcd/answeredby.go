package etcd

import (
	"slices"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// answerers are the members that answered requests of the load, by address: behind a load balancer, an address leads to
// several members, and each connection, or each request, to another one.
type answerers struct {
	mutex     sync.Mutex
	byAddress map[string][]uint64
}

func (a *answerers) saw(address string, member uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if member == 0 || slices.Contains(a.byAddress[address], member) {
		return
	}
	if a.byAddress == nil {
		a.byAddress = map[string][]uint64{}
	}
	a.byAddress[address] = append(a.byAddress[address], member)
}

// AnsweredBy implements load.Answerer.
func (d *Driver) AnsweredBy() map[string][]string {
	d.answerers.mutex.Lock()
	defer d.answerers.mutex.Unlock()
	out := map[string][]string{}
	for address, members := range d.answerers.byAddress {
		for _, m := range members {
			out[address] = append(out[address], hexID(m))
		}
		slices.Sort(out[address])
	}
	return out
}

// answerer is the member that gave the last answer on one connection of the load. All answers have the ID of their member. It is
// nil on other connections.
type answerer struct {
	all     *answerers
	address string
	last    atomic.Uint64
}

func (a *answerer) saw(answer any) {
	withHeader, ok := answer.(interface {
		GetHeader() *etcdserverpb.ResponseHeader
	})
	if !ok || a == nil {
		return
	}
	if member := withHeader.GetHeader().GetMemberId(); a.last.Load() != member {
		a.last.Store(member)
		a.all.saw(a.address, member)
	}
}
