package clients

import (
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

const (
	// throughputParity and latencyParity are how far the two may be apart.
	throughputParity = 0.10
	latencyParity    = 0.15
	// txnKeys is the key space of transactions, txnOps how many one writes.
	txnKeys = 10_000
	txnOps  = 10
)

// parityContests are what `perf parity` measures: the loads of etcd's tool, by
// it and by ClientV3.
func parityContests(z size) []contest {
	return []contest{
		parity("put", "put of 256 B", writes(), 50_000, z, theirWrites),
		parity("range", "serializable range of 256 B", reads(), 100_000, z, theirReads),
		parity("txn-put", "transaction of 10 puts of 256 B", transactions(), 20_000, z, theirTransactions),
		withWrites(parity("txn-mixed", "half reads of one key, half puts of 256 B; benchmark wraps each in a transaction", mixture(), 50_000, z, theirMixture)),
		parity("lease-keepalive", "renewal of a lease, over a stream opened for it", renewals(), 30_000, z, theirRenewals),
	}
}

// parity puts a load on etcd by 100 clients on 10 connections.
func parity(name, what string, w plan.Workload, requests int64, z size, others func(load) side) contest {
	l := load{workload: w, connections: 10, clients: 100, requests: z.requestsOr(requests)}
	return contest{
		name: name, what: what + ", closed loop, 10 connections, 100 clients",
		sides: []side{ours(clientV3, l), others(l)},
		figures: []figure{
			rateFigure(clientV3, peer, within(throughputParity, 1)),
			{what: "latency p50, ClientV3 ÷ benchmark", metric: latencyP50, of: clientV3, by: peer, bound: within(latencyParity, 1)},
		},
	}
}

// withWrites tells the writes apart.
func withWrites(c contest) contest {
	c.figures = append(c.figures, figure{what: "latency p50 of puts, ClientV3 ÷ benchmark", metric: writeP50, of: clientV3, by: peer, bound: within(latencyParity, 1)})
	return c
}

func transactions() plan.Workload {
	w := writes()
	w.Type, w.KeyCount, w.Txn = plan.WorkloadTxn, txnKeys, &plan.Txn{Puts: txnOps}
	return w
}

func theirTransactions(l load) side {
	return theirs(l, "txn-put", "--key-size="+strconv.Itoa(wireKey), "--val-size="+strconv.Itoa(valueSize),
		"--key-space-size="+strconv.Itoa(txnKeys), "--txn-ops="+strconv.Itoa(txnOps))
}

func mixture() plan.Workload {
	w := writes()
	w.Type, w.ReadsPerHundred, w.KeyCount = plan.WorkloadMixed, 50, 100
	return w
}

// theirMixture reads one key of all: the tool knows no other range.
func theirMixture(l load) side {
	return theirs(l, "txn-mixed", "--key-size="+strconv.Itoa(wireKey), "--val-size="+strconv.Itoa(valueSize),
		"--key-space-size=100", "--limit=1", "--rw-ratio=1")
}

// renewals are of as many leases as there are clients, as in etcd's tool.
func renewals() plan.Workload {
	return plan.Workload{Type: plan.WorkloadLease, Lease: &plan.Lease{Operation: plan.LeaseKeepAlive, TTLSeconds: 100, Count: 100}}
}

func theirRenewals(l load) side { return theirs(l, "lease-keepalive") }
