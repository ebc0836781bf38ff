package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// v2Server is what serves the v2 API.
var v2Server = serverKind{program: "etcd-debian", flags: []string{"--enable-v2"}}

// heyComparison reads and writes one key over etcd's v2 API, as the loads of etcd 2.2's performance page, with hey and with V2.
func heyComparison(z size) comparison {
	c := comparison{name: "hey", what: "one key of 256 B over etcd 3.4's v2 API, closed loop, a connection for each client", kind: v2Server}
	for _, clients := range []int{64, 256} {
		for _, method := range []string{http.MethodGet, http.MethodPut} {
			l := load{transport: string(spec.TransportV2), workload: reads(), connections: clients, clients: clients, requests: z.requestsOr(51_200)}
			if method == http.MethodPut {
				l.workload = spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: keys(1, spec.Sequential), Values: values()}}
			}
			name := fmt.Sprintf("%s by %d", method, clients)
			own, other := "V2 "+name, "hey "+name
			c.sides = append(c.sides,
				side{own, func(ctx context.Context, a *testbed) (sample, error) { return a.loadgen(ctx, l) }},
				side{other, func(ctx context.Context, a *testbed) (sample, error) { return a.hey(ctx, method, l) }})
			c.figures = append(c.figures,
				figure{what: "requests/s, " + name + ", V2 ÷ hey", metric: rate, of: own, by: other, bound: atLeast(0.9)},
				figure{what: "latency p50, " + name + ", V2 ÷ hey", metric: latencyP50, of: own, by: other, bound: within(0.15, 1)},
				figure{what: "client CPU per request, " + name + ", V2 ÷ hey", metric: clientCPU, of: own, by: other, bound: atMost(1)})
		}
	}
	return c
}

// jsonComparison shows what JSON costs the client beside Client. Both have one client on each connection.
func jsonComparison(z size) comparison {
	c := comparison{name: "json", what: "serializable range and put of 256 B, closed loop, 100 connections × 1"}
	json := string(spec.TransportJSON)
	for _, w := range []spec.Workload{reads(), writes()} {
		name, l := string(w.Type), load{workload: w, connections: 100, clients: 100, requests: z.requestsOr(30_000)}
		for _, transport := range []string{json, client} {
			s := ours(transport, l)
			s.name += " " + name
			c.sides = append(c.sides, s)
		}
		c.figures = append(c.figures, cpuFigure(json+" "+name, client+" "+name, reported()))
	}
	return c
}

// heyPath is the key that V2 reads and writes.
const heyPath = "/v2/keys/00000000"

// hey runs a load on the key of V2, with as long a value.
func (a *testbed) hey(ctx context.Context, method string, l load) (sample, error) {
	url, value := a.server.url()+heyPath, "value="+strings.Repeat("a", valueSize)
	args := []string{"-n", strconv.FormatInt(l.requests, 10), "-c", strconv.Itoa(l.clients), "-m", method}
	if method == http.MethodPut {
		args = append(args, "-T", "application/x-www-form-urlencoded", "-d", value)
	}
	text, used, err := runProcess(ctx, "bin/tools/hey", append(args, url)...)
	if err != nil {
		return nil, fmt.Errorf("hey: run `make tools-hey`: %w", err)
	}
	s, err := parseBenchmark(string(text))
	if err != nil {
		return nil, err
	}
	if n := sum(numbers(heySuccesses, string(text))); int64(n) != l.requests {
		return nil, fmt.Errorf("hey: wanted %d responses with the status 200 or 201, found %.500s", l.requests, text)
	}
	s.charge(used, l.requests)
	return s, nil
}

var heySuccesses = regexp.MustCompile(`\[20[01]\]\s+([0-9]+) responses`)

func sum(all []float64) (n float64) {
	for _, v := range all {
		n += v
	}
	return n
}
