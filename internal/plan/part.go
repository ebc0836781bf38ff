package plan

import "fmt"

// Part is one pod's share of a plan.
type Part struct {
	// Index of the pod, from 0.
	Index int
	// Pods is the number of parts.
	Pods int
	// FirstConnection is the global index of the pod's first connection; its
	// connections follow each other.
	FirstConnection int
	Connections     int
	// Requests is how many measured requests are this pod's: those whose
	// global number is Index modulo Pods. 0 where a duration bounds the run.
	Requests int64
	// clients and allConnections are the plan's totals, for ClientsOn.
	clients, allConnections int
	// carriers is the plan's total, too.
	carriers int
}

// Part returns the share of the pod with this index. Connections are split
// into blocks, requests and preloaded keys by number modulo Pods, so that the
// sum is exact and open-loop pods do not fire in phase.
func (p Plan) Part(index int) (Part, error) {
	if index < 0 || index >= p.Pods {
		return Part{}, fmt.Errorf("pod index: wanted 0 to %d, found %d", p.Pods-1, index)
	}
	first := blockStart(p.Load.Connections, p.Pods, index)
	return Part{
		Index:           index,
		Pods:            p.Pods,
		FirstConnection: first,
		Connections:     blockStart(p.Load.Connections, p.Pods, index+1) - first,
		Requests:        CountModulo(p.Load.Requests, p.Pods, index),
		clients:         p.Load.Clients,
		allConnections:  p.Load.Connections,
		carriers:        p.Workload.carriers(),
	}, nil
}

// ClientsOn returns how many clients use the connection with this global
// index: client i uses connection i modulo connections.
func (p Part) ClientsOn(connection int) int {
	return int(CountModulo(int64(p.clients), p.allConnections, connection))
}

// Clients returns how many clients are this pod's.
func (p Part) Clients() int {
	n := 0
	for c := p.FirstConnection; c < p.FirstConnection+p.Connections; c++ {
		n += p.ClientsOn(c)
	}
	return n
}

// mostClients bounds how many clients one of so many pods has.
func (l Load) mostClients(pods int) int64 {
	connections, pods64 := max(int64(l.Connections), 1), max(int64(pods), 1)
	return ((connections-1)/pods64 + 1) * ((int64(l.Clients)-1)/connections + 1)
}

// Number returns the number, among those of all pods, of the k-th thing of this
// pod that is dealt out by number modulo Pods: a request, or a key to preload.
func (p Part) Number(k int64) int64 { return k*int64(p.Pods) + int64(p.Index) }

// CountModulo returns how many of the numbers 0 to n-1 are index modulo parts.
func CountModulo(n int64, parts, index int) int64 {
	if n <= int64(index) {
		return 0
	}
	return (n-int64(index)-1)/int64(parts) + 1
}

// blockStart is where block i begins when n things are split into parts
// blocks whose sizes differ by at most one.
func blockStart(n, parts, i int) int { return int(int64(n) * int64(i) / int64(parts)) }
