package plan

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Part is one pod's share of a plan.
type Part struct {
	// Index of the pod, from 0.
	Index int
	// Pods is the number of parts.
	Pods int
	// FirstConnection is the global index of the pod's first connection. Its connections are consecutive.
	FirstConnection int
	Connections     int
	// Requests is how many measured requests are this pod's: those whose global number is Index modulo Pods; of a
	// burst, one for each of the pod's clients. It is 0 if a duration bounds the run.
	Requests int64
	// clients and allConnections are the plan's totals, for ClientsOn.
	clients, allConnections int
	// carriers is the plan's total of connections that carry only watchers.
	carriers int
}

// Part returns the share of the pod with this index. Connections are split into blocks; requests and preloaded keys
// by their number modulo Pods. So the sum is exact, and open-loop pods do not send in phase.
func (p Plan) Part(index int) (Part, error) {
	pods, connections := p.Pods(), int(p.Load.Connections)
	if index < 0 || index >= pods {
		return Part{}, fmt.Errorf("pod index: wanted 0 to %d, found %d", pods-1, index)
	}
	first := blockStart(connections, pods, index)
	part := Part{
		Index:           index,
		Pods:            pods,
		FirstConnection: first,
		Connections:     blockStart(connections, pods, index+1) - first,
		Requests:        workload.CountModulo(p.Load.RequestBound(), pods, index),
		clients:         int(p.Load.Clients),
		allConnections:  connections,
		carriers:        p.Carriers(),
	}
	if p.Burst() != nil {
		part.Requests = int64(part.Clients())
	}
	return part, nil
}

// ClientsOn returns how many clients use the connection with this global
// index: client i uses connection i modulo connections.
func (p Part) ClientsOn(connection int) int {
	return int(workload.CountModulo(int64(p.clients), p.allConnections, connection))
}

// Clients returns how many clients are this pod's.
func (p Part) Clients() int {
	n := 0
	for c := p.FirstConnection; c < p.FirstConnection+p.Connections; c++ {
		n += p.ClientsOn(c)
	}
	return n
}

// Number returns the global number of this pod's k-th request or k-th key to preload. They are distributed by number
// modulo Pods.
func (p Part) Number(k int64) int64 { return k*int64(p.Pods) + int64(p.Index) }

// OwnCarriers returns the numbers of this pod's connections that carry only watchers. They are distributed as
// streams are, so that each carries at least one.
func (p Part) OwnCarriers() []int {
	var own []int
	for c := p.Index; c < p.carriers; c += p.Pods {
		own = append(own, c)
	}
	return own
}

// earlyConnections is how many connections of a pod write the parameters of a burst, if those of the load are opened later.
const earlyConnections = 16

// EarlyConnections returns the numbers of the connections that a pod opens for the preload, beside those of the load.
func (p Plan) EarlyConnections(part Part) (numbers []int) {
	if b := p.Burst(); b == nil || !b.Connects {
		return nil
	}
	for i := range min(part.Connections, earlyConnections) {
		numbers = append(numbers, part.FirstConnection+i)
	}
	return numbers
}

// blockStart is where block i begins if n things are split into parts blocks whose sizes differ by at most one.
func blockStart(n, parts, i int) int { return int(int64(n) * int64(i) / int64(parts)) }
