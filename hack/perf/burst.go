package main

import (
	"context"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// fetches is a burst of processes that read 100 parameters of 100 bytes each, all at once.
func fetches(transport string, processes, connections int, connect spec.ConnectTime) load {
	return load{transport: transport, connections: connections, clients: processes, requests: int64(processes), workload: spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{
		Layout: spec.LayoutFlat, ParametersPerProcess: 100, ParameterBytes: 100, Parameters: spec.ParametersShared, Consistency: spec.Serializable,
		Connect: connect, TimeoutMilliseconds: 120_000, Attempts: 1,
	}}}
}

// burstComparisons compare bursts. One etcd serves all of them.
func burstComparisons() []comparison {
	sideOf := func(name string, l load) side {
		return side{name, func(ctx context.Context, a *testbed) (sample, error) { return a.loadgen(ctx, l) }}
	}
	const many, few, before = "15,000 connections", "1,000 connections", "Fast, connected before"
	large := comparison{
		name: "burst-70000", what: "a burst of 70,000 processes, which read 100 parameters of 100 B with one request, Fast",
		sides: []side{sideOf(many, fetches(fast, 70_000, 15_000, spec.ConnectBefore)), sideOf(few, fetches(fast, 70_000, 1_000, spec.ConnectBefore))},
	}
	small := comparison{name: "burst-7000", what: "a burst of 7,000 processes with a connection each, which read 100 parameters of 100 B with one request"}
	small.sides = append(small.sides, sideOf(before, fetches(fast, 7_000, 7_000, spec.ConnectBefore)))
	for _, transport := range []spec.Transport{spec.TransportClient, spec.TransportFast, spec.TransportJSON} {
		small.sides = append(small.sides, sideOf(string(transport), fetches(string(transport), 7_000, 7_000, spec.ConnectAtStart)))
	}
	for _, c := range []struct {
		to   *comparison
		late float64
	}{{&large, 1500}, {&small, 150}} {
		for _, s := range c.to.sides {
			c.to.figures = append(c.to.figures,
				figure{what: s.name + ": lateness p99, µs", metric: latenessP99, of: s.name, bound: lateBound(c.late, s.name)},
				figure{what: s.name + ": latency p99, µs", metric: latencyP99, of: s.name, bound: reported()},
				figure{what: s.name + ": client CPU per process, µs", metric: clientCPU, of: s.name, bound: reported()},
				figure{what: s.name + ": processes per second", metric: rate, of: s.name, bound: reported()},
				figure{what: s.name + ": peak memory, MB", metric: memory, of: s.name, bound: memoryBound(s.name == few)})
		}
	}
	return []comparison{large, small}
}

// lateBound bounds what the load generator adds to tasks that only send. Connecting is work of the tasks themselves.
func lateBound(milliseconds float64, name string) bound {
	if slices.Contains([]string{string(spec.TransportClient), string(spec.TransportFast), string(spec.TransportJSON)}, name) {
		return reported()
	}
	return atMost(milliseconds * 1000)
}

func memoryBound(isBound bool) bound {
	if isBound {
		return atMost(200)
	}
	return reported()
}
