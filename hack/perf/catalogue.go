package main

import (
	"context"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Names of the sides.
const (
	fast   = string(spec.TransportFast)
	client = string(spec.TransportClient)
	peer   = "benchmark"
	inC    = "h2load"
	// newerPeer is etcd 3.7's tool. It uses the same client library as the transport Client.
	newerPeer = "benchmark 3.7"
)

// size overrides the size of the loads; 0 means the default of a load.
type size struct {
	requests int64
	seconds  int
	// connections of the loads that compare connections.
	connections int
}

func (z size) requestsOr(n int64) int64 {
	if z.requests > 0 {
		return z.requests
	}
	return n
}

func (z size) secondsOr(n int) int {
	if z.seconds > 0 {
		return z.seconds
	}
	return n
}

// ours is this project's side, over one of its transports.
func ours(transport string, l load) side {
	l.transport = transport
	return side{transport, func(ctx context.Context, a *testbed) (sample, error) { return a.loadgen(ctx, l) }}
}

// theirs is etcd's own tool with the same number of connections, clients and requests.
func theirs(l load, args ...string) side {
	args = append(args, "--total="+strconv.FormatInt(l.total(), 10))
	if l.rate > 0 {
		args = append(args, "--rate="+strconv.FormatInt(l.rate, 10))
	}
	return side{peer, func(ctx context.Context, a *testbed) (sample, error) {
		return a.benchmark(ctx, l.connections, l.clients, l.total(), args...)
	}}
}

// newer is the same load by the tool's newer release. Compared with it, Client differs only by this project's code.
func newer(theirs side) side {
	return side{newerPeer, func(ctx context.Context, a *testbed) (sample, error) {
		there := *a
		there.programs.benchmark = a.programs.newerBenchmark
		return theirs.run(ctx, &there)
	}}
}

// reads are serializable ranges of one key.
func reads() spec.Workload {
	return spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
		Keys: keys(1, spec.Sequential), Values: values(), KeysPerRequest: 1, Consistency: spec.Serializable, Delivery: spec.DeliveryWhole,
	}}
}

func keys(count int64, d spec.Distribution) spec.Keys {
	return spec.Keys{Count: count, SizeBytes: keySize, Distribution: d}
}

func values() spec.Values {
	return spec.Values{SizeBytes: valueSize, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform}
}

func theirReads(l load) side { return theirs(l, "range", peerKey, "--consistency=s") }

func writes() spec.Workload {
	return spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: keys(10_000, spec.Sequential), Values: values()}}
}

func theirWrites(l load) side {
	return theirs(l, "put", "--key-size="+strconv.Itoa(wireKey), "--val-size="+strconv.Itoa(valueSize), "--key-space-size=10000", "--sequential-keys")
}

// comparisons are the comparisons of `perf clients`, in the order of its table.
func comparisons(z size) []comparison {
	return append([]comparison{
		rangeComparison(z), putComparison(z), h2loadComparison(z), fewComparison(z), oneComparison(z),
		openComparison(z), defaultComparison(z), latenessComparison(z),
		startedComparison(z, client), startedComparison(z, fast), frozenComparison(client), frozenComparison(fast), storesComparison(z), heyComparison(z), jsonComparison(z), recorderComparison(false), recorderComparison(true),
	}, burstComparisons()...)
}

func cpuFigure(of, by string, b bound) figure {
	return figure{what: "client CPU per request, " + of + " ÷ " + by, metric: clientCPU, of: of, by: by, bound: b}
}

func rateFigure(of, by string, b bound) figure {
	return figure{what: "requests/s, " + of + " ÷ " + by, metric: rate, of: of, by: by, bound: b}
}

func rangeComparison(z size) comparison {
	l := load{workload: reads(), connections: 100, clients: 1000, requests: z.requestsOr(300_000)}
	return comparison{
		name: "range", what: "serializable range of 256 B, closed loop, 100 connections, 1,000 clients",
		sides: []side{ours(fast, l), ours(client, l), theirReads(l), newer(theirReads(l))},
		figures: []figure{
			cpuFigure(fast, peer, atMost(0.15)), cpuFigure(client, peer, atMost(1)), cpuFigure(client, newerPeer, reported()),
			rateFigure(fast, peer, atLeast(1.3)), rateFigure(client, peer, reported()),
		},
	}
}

func putComparison(z size) comparison {
	l := load{workload: writes(), connections: 100, clients: 1000, requests: z.requestsOr(150_000)}
	return comparison{
		name: "put", what: "put of 256 B, closed loop, 100 connections, 1,000 clients",
		sides: []side{ours(fast, l), ours(client, l), theirWrites(l), newer(theirWrites(l))},
		figures: []figure{
			cpuFigure(fast, peer, atMost(0.2)), cpuFigure(client, peer, atMost(1)), cpuFigure(client, newerPeer, reported()),
			rateFigure(fast, peer, reported()),
		},
	}
}

func h2loadComparison(z size) comparison {
	l := load{workload: reads(), connections: 100, clients: 1000, requests: z.requestsOr(100_000)}
	h2load := side{inC, func(ctx context.Context, a *testbed) (sample, error) {
		return a.h2load(ctx, l.connections, l.clients/l.connections, l.requests)
	}}
	return comparison{
		name: "h2load", what: "serializable range of 256 B, closed loop, 100 connections × 10 streams",
		sides:   []side{ours(fast, l), h2load},
		figures: []figure{cpuFigure(fast, inC, atMost(1)), rateFigure(fast, inC, reported())},
	}
}

func fewComparison(z size) comparison {
	l := load{workload: reads(), connections: 100, clients: 100, requests: z.requestsOr(60_000)}
	return comparison{
		name: "range-100x1", what: "serializable range of 256 B, closed loop, 100 connections × 1",
		sides: []side{ours(fast, l), theirReads(l)}, figures: []figure{cpuFigure(fast, peer, atMost(0.3))},
	}
}

func oneComparison(z size) comparison {
	l := load{workload: reads(), connections: 1, clients: 1, requests: z.requestsOr(60_000)}
	return comparison{
		name: "range-1x1", what: "serializable range of 256 B, closed loop, 1 connection × 1",
		sides: []side{ours(fast, l), theirReads(l)}, figures: []figure{cpuFigure(fast, peer, atMost(0.3))},
	}
}

// open is an open loop of reads.
func open(perSecond int64, seconds int) load {
	return load{workload: reads(), connections: 100, clients: 1000, rate: perSecond, seconds: seconds}
}

func openComparison(z size) comparison {
	l := open(10_000, z.secondsOr(10))
	return comparison{
		name: "open-10000", what: "serializable range of 256 B, open loop, 10,000/s",
		sides: []side{ours(fast, l), theirReads(l)}, figures: []figure{cpuFigure(fast, peer, atMost(0.6))},
	}
}

// latenessFigures are the lateness of one side.
func latenessFigures(of string) []figure {
	return []figure{
		{what: "lateness p50, µs, " + of, metric: latenessP50, of: of, bound: atMost(150)},
		{what: "lateness p99, µs, " + of, metric: latenessP99, of: of, bound: atMost(250)},
	}
}

// defaultComparison decides whether Fast may be the default transport, and shows the lateness at its rate.
func defaultComparison(z size) comparison {
	l := open(2_000, z.secondsOr(4))
	figures := []figure{
		{what: "service time p50, Fast ÷ Client", metric: serviceP50, of: fast, by: client, bound: atMost(1)},
		{what: "service time p99, Fast ÷ Client", metric: serviceP99, of: fast, by: client, bound: atMost(1)},
		{what: "server CPU per request, Fast ÷ Client", metric: serverCPU, of: fast, by: client, bound: within(0.05, 1)},
	}
	return comparison{
		name: "open-2000", what: "serializable range of 256 B, open loop, 2,000/s", sides: []side{ours(fast, l), ours(client, l)},
		figures: append(figures, append(latenessFigures(client), latenessFigures(fast)...)...),
	}
}

func latenessComparison(z size) comparison {
	l := open(5_000, z.secondsOr(4))
	return comparison{
		name: "open-5000", what: "serializable range of 256 B, open loop, 5,000/s", sides: []side{ours(fast, l), ours(client, l)},
		figures: append(latenessFigures(client), latenessFigures(fast)...),
	}
}

// startedComparison shows lateness beside the share of started requests. The engine still sends for a while after the
// window's end, so a generator that is behind by less than that starts all requests.
func startedComparison(z size, transport string) comparison {
	name := map[string]string{fast: "started-fast", client: "started-client"}[transport]
	return comparison{
		name: name, what: "serializable range of 256 B, open loop, 20,000/s for 10 s, " + transport,
		sides: []side{ours(transport, open(20_000, z.secondsOr(10)))},
		figures: []figure{
			{what: "started ÷ scheduled", metric: started, of: transport, bound: within(0.005, 1)},
			{what: "lateness p99, µs", metric: latenessP99, of: transport, bound: reported()},
		},
	}
}

// frozenComparison stops etcd for a tenth of a run. Requests that are due meanwhile wait between 1 s and 0 s. So the
// 95th percentile of all requests is half a second, and the 99th is nine tenths of a second.
func frozenComparison(transport string) comparison {
	name := map[string]string{fast: "frozen-fast", client: "frozen"}[transport]
	l := load{transport: transport, workload: writes(), connections: 100, clients: 1000, rate: 1_000, seconds: 10}
	return comparison{
		name: name, what: "put of 256 B, open loop, 1,000/s for 10 s, etcd stopped for 1 s of it, " + transport,
		sides: []side{{transport, func(ctx context.Context, a *testbed) (sample, error) { return a.frozen(ctx, l) }}},
		figures: []figure{
			{what: "latency p95, µs", metric: latencyP95, of: transport, bound: within(0.15, 500_000)},
			{what: "latency p99, µs", metric: latencyP99, of: transport, bound: within(0.15, 900_000)},
			{what: "requests lost", metric: lost, of: transport, bound: exactly(0)},
		},
	}
}

func (a *testbed) frozen(ctx context.Context, l load) (sample, error) {
	start := time.Now().Add(startDelay)
	frozen := make(chan error, 1)
	go func() {
		from := start.Add(4 * time.Second)
		frozen <- a.server.freeze(ctx, from, from.Add(time.Second))
	}()
	s, err := a.loadgenAt(ctx, l, start)
	// This always receives: freeze ends after its time, or with ctx.
	if ferr := <-frozen; err == nil {
		err = ferr
	}
	return s, err
}
