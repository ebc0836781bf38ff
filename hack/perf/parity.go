package main

import (
	"context"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

const (
	// throughputParity and latencyParity are the allowed differences.
	throughputParity = 0.10
	latencyParity    = 0.15
	// txnKeys is the key space of transactions, txnOps the number of keys that one writes.
	txnKeys = 10_000
	txnOps  = 10
)

// parityComparisons are the comparisons of `perf parity`: the loads of etcd's tool, sent by it and by Client.
func parityComparisons(z size) []comparison {
	return []comparison{
		parity("put", "put of 256 B", writes(), 50_000, z, theirWrites),
		parity("range", "serializable range of 256 B", reads(), 100_000, z, theirReads),
		parity("txn-put", "transaction of 10 puts of 256 B", transactions(), 20_000, z, theirTransactions),
		withWrites(parity("txn-mixed", "half reads of one key, half puts of 256 B, each in a transaction of its own", mixture(), 50_000, z, theirMixture)),
		stmParity("stm", spec.LockerNone, 20_000, z), stmParity("stm-lock-client", spec.LockerClient, 2_000, z), stmParity("stm-lock-rpc", spec.LockerRPC, 2_000, z),
		watchParity(z),
		besideNewer(parity("lease-keepalive", "renewal of a lease, over a stream opened for it", renewals(), 30_000, z, theirRenewals)),
	}
}

// parity puts a load on etcd by 100 clients on 10 connections.
func parity(name, what string, w spec.Workload, requests int64, z size, others func(load) side) comparison {
	l := load{workload: w, connections: 10, clients: 100, requests: z.requestsOr(requests)}
	return comparison{
		name: name, what: what + ", closed loop, 10 connections, 100 clients",
		sides: []side{ours(client, l), others(l)},
		figures: []figure{
			rateFigure(client, peer, within(throughputParity, 1)),
			{what: "latency p50, Client ÷ benchmark", metric: latencyP50, of: client, by: peer, bound: within(latencyParity, 1)},
		},
	}
}

// besideNewer adds the tool's newer release as a side.
func besideNewer(c comparison) comparison {
	c.sides = append(c.sides, newer(c.sides[1]))
	c.figures = append(c.figures,
		figure{what: "mean latency, Client ÷ benchmark", metric: latencyMean, of: client, by: peer, bound: reported()},
		rateFigure(client, newerPeer, reported()),
		figure{what: "latency p50, Client ÷ benchmark 3.7", metric: latencyP50, of: client, by: newerPeer, bound: reported()})
	return c
}

// withWrites adds separate figures for the writes.
func withWrites(c comparison) comparison {
	c.figures = append(c.figures, figure{what: "latency p50 of puts, Client ÷ benchmark", metric: writeP50, of: client, by: peer, bound: within(latencyParity, 1)})
	return c
}

func transactions() spec.Workload {
	return spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{
		Keys: keys(txnKeys, spec.Sequential), Values: values(), Mode: spec.TxnPuts, PutsPerTransaction: new(int32(txnOps)),
	}}
}

func theirTransactions(l load) side {
	return theirs(l, "txn-put", "--key-size="+strconv.Itoa(wireKey), "--val-size="+strconv.Itoa(valueSize),
		"--key-space-size="+strconv.Itoa(txnKeys), "--txn-ops="+strconv.Itoa(txnOps))
}

func mixture() spec.Workload {
	return spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
		Keys: keys(100, spec.Sequential), Values: values(), ReadPercent: 50, InTransaction: true, Consistency: spec.Linearizable,
	}}
}

// theirMixture reads one key; the tool supports no other range.
func theirMixture(l load) side {
	return theirs(l, "txn-mixed", "--key-size="+strconv.Itoa(wireKey), "--val-size="+strconv.Itoa(valueSize),
		"--key-space-size=100", "--limit=1", "--rw-ratio=1")
}

// renewals use as many leases as there are clients, as in etcd's tool.
func renewals() spec.Workload {
	return spec.Workload{Type: spec.WorkloadLease, Lease: &spec.Lease{
		Operation: spec.LeaseKeepAlive, TTLSeconds: 100, KeepAlive: &spec.KeepAlive{Leases: 100, Mode: spec.KeepAliveOnce},
	}}
}

func theirRenewals(l load) side { return theirs(l, "lease-keepalive") }

// stmParity has transactions that read four keys and write two.
func stmParity(name string, locker spec.Locker, requests int64, z size) comparison {
	w := spec.Workload{Type: spec.WorkloadSTM, STM: &spec.STM{
		Keys: keys(1_000, spec.Uniform), Values: values(),
		Isolation: spec.IsolationRepeatableReads, KeysPerTransaction: 4, WritePercent: 50, Locker: locker,
	}}
	theirLocker := map[spec.Locker]string{spec.LockerNone: "stm", spec.LockerClient: "lock-client", spec.LockerRPC: "lock-rpc"}[locker]
	return parity(name, "software transaction of 4 reads and 2 writes, repeatable reads, locker "+theirLocker, w, requests, z, func(l load) side {
		return theirs(l, "stm", "--isolation=r", "--keys=1000", "--keys-per-txn=4", "--txn-wr-percent=50",
			"--val-size="+strconv.Itoa(valueSize), "--stm-locker="+theirLocker)
	})
}

// watchParity puts to a key that a hundred watchers watch. As in the tool, one client puts on one connection, and all
// streams share another.
func watchParity(z size) comparison {
	w := spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{
		Keys: keys(1, spec.Sequential), Values: values(), Streams: 10, WatchersPerStream: 10, Connections: 1, Scope: spec.WatchScopeKey,
	}}
	l := load{workload: w, connections: 1, clients: 1, rate: 200, seconds: z.secondsOr(5)}
	return comparison{
		name: "watch-latency", what: "one client puts to one key at 200/s; 100 watchers receive the events on 10 streams of another connection",
		sides: []side{ours(client, l), theirWatch(l), newer(theirWatch(l))},
		figures: []figure{
			{what: "put response → event p50, Client ÷ benchmark", metric: eventP50, of: client, by: peer, bound: within(latencyParity, 1)},
			{what: "service time p50 of puts, Client ÷ benchmark", metric: sendingP50, of: client, by: peer, bound: within(latencyParity, 1)},
			{what: "put response → event p50, Client ÷ benchmark 3.7", metric: eventP50, of: client, by: newerPeer, bound: reported()},
			{what: "service time p50 of puts, Client ÷ benchmark 3.7", metric: sendingP50, of: client, by: newerPeer, bound: reported()},
		},
	}
}

// theirWatch has one client that puts, on a separate connection from the streams.
func theirWatch(l load) side {
	return side{peer, func(ctx context.Context, a *testbed) (sample, error) {
		s, err := a.benchmark(ctx, l.connections, l.clients, l.total(), "watch-latency", "--streams=10", "--watchers-per-stream=10",
			"--put-total="+strconv.FormatInt(l.total(), 10), "--put-rate="+strconv.FormatInt(l.rate, 10),
			"--key-size="+strconv.Itoa(wireKey), "--val-size="+strconv.Itoa(valueSize))
		if err != nil {
			return nil, err
		}
		return s.ofWatch(), nil
	}}
}

// ofWatch reinterprets a report of watch-latency: the first part is about the puts, whose latency excludes the wait for
// the rate, and the second about the events.
func (s sample) ofWatch() sample {
	s[sendingP50], s[eventP50] = s[latencyP50], s[writeP50]
	return s
}
