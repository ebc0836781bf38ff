package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	manyConnections = 10_000
	pageKB          = 4
	// lookEvery is the interval at which the kernel's socket memory is read.
	lookEvery = 100 * time.Millisecond
)

// memoryComparisons are the comparisons of `perf memory`. A round takes minutes.
func memoryComparisons(z size) []comparison {
	return []comparison{flatComparison(z, fast, 64), flatComparison(z, client, 160), connectionsComparison(z, false, 40), connectionsComparison(z, true, 64), localComparison(z, 80)}
}

// goGC is the garbage collector's target with which loadgen runs a transport.
var goGC = map[string]string{fast: "100", client: "250"}

// flatComparison compares the memory of ten million requests with that of one million.
func flatComparison(z size, transport string, highestMB float64) comparison {
	l := load{transport: transport, workload: reads(), connections: 100, clients: 1000, requests: z.requestsOr(1_000_000)}
	tenfold := l
	tenfold.requests *= 10
	name := map[string]string{fast: "memory-fast", client: "memory-client"}[transport]
	one, ten := "1 M requests", "10 M requests"
	return comparison{
		name: name, what: "peak memory, serializable range of 256 B, 1,000 clients, " + transport + " (GOGC " + goGC[transport] + ", as loadgen has it)",
		sides: []side{
			{one, func(ctx context.Context, a *testbed) (sample, error) { return a.loadgen(ctx, l) }},
			{ten, func(ctx context.Context, a *testbed) (sample, error) { return a.loadgen(ctx, tenfold) }},
		},
		figures: []figure{
			{what: "peak memory, 10 M ÷ 1 M requests", metric: memory, of: ten, by: one, bound: atMost(1.05)},
			{what: "peak memory, MB", metric: memory, of: ten, bound: atMost(highestMB)},
		},
	}
}

// connectionsComparison gives each of many clients its own connection.
func connectionsComparison(z size, secure bool, highestKB float64) comparison {
	w := reads()
	w.Range.Values.SizeBytes = 512
	n := manyConnections
	if z.connections > 0 {
		n = z.connections
	}
	l := load{transport: fast, workload: w, connections: n, clients: n, requests: z.requestsOr(200_000)}
	name, kind := "connections", "plain"
	if secure {
		name, kind = "connections-tls", "TLS"
	}
	return comparison{
		name: name, what: fmt.Sprintf("%d clients on %[1]d %s connections, replies of 512 B, Fast", n, kind), kind: serverKind{secure: secure},
		sides: []side{{fast, func(ctx context.Context, a *testbed) (sample, error) { return a.watched(ctx, l) }}},
		figures: []figure{
			{what: "client memory per connection, KB", metric: perConnection, of: fast, bound: atMost(highestKB)},
			{what: "kernel memory for both ends of a connection, KB", metric: kernelMemory, of: fast, bound: reported()},
		},
	}
}

// watched runs a load and reads the memory of the kernel's sockets meanwhile.
func (a *testbed) watched(ctx context.Context, l load) (sample, error) {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	highest := make(chan float64, 1)
	go func() { highest <- highestSocketMemory(watching) }()
	s, err := a.loadgen(ctx, l)
	cancel()
	kilobytes := <-highest
	if err == nil {
		s[kernelMemory] = kilobytes / float64(l.connections)
	}
	return s, err
}

// highestSocketMemory returns the highest value read before ctx ends.
func highestSocketMemory(ctx context.Context) (highest float64) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if text, err := os.ReadFile("/proc/net/sockstat"); err == nil {
			if kilobytes, err := socketMemory(string(text)); err == nil {
				highest = max(highest, kilobytes)
			}
		}
		select {
		case <-ctx.Done():
			return highest
		case <-tick.C:
		}
	}
}

// socketMemory reads the memory of all TCP sockets, in KB.
func socketMemory(sockstat string) (float64, error) {
	for line := range strings.Lines(sockstat) {
		if !strings.HasPrefix(line, "TCP:") {
			continue
		}
		_, after, _ := strings.Cut(line, " mem ")
		pages, err := strconv.ParseFloat(strings.TrimSpace(after), 64)
		return pages * pageKB, err
	}
	return 0, fmt.Errorf("/proc/net/sockstat: wanted a line of TCP, found %.100q", sockstat)
}
