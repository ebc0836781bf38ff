package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// localComparison measures the plugin's process, which checks the manifest, sends the load and writes the result.
func localComparison(z size, highestMB float64) comparison {
	requests := z.requestsOr(200_000)
	one, ten := "200,000 requests", "2 M requests"
	return comparison{
		name: "local", what: "peak memory of `run --local`, serializable range of 256 B, 100 clients, " + fast,
		sides: []side{
			{one, func(ctx context.Context, a *testbed) (sample, error) { return a.local(ctx, requests) }},
			{ten, func(ctx context.Context, a *testbed) (sample, error) { return a.local(ctx, 10*requests) }},
		},
		figures: []figure{
			{what: "peak memory, MB, 200,000 requests", metric: memory, of: one, bound: atMost(highestMB)},
			{what: "peak memory, MB, 2 M requests", metric: memory, of: ten, bound: atMost(highestMB)},
		},
	}
}

func (a *testbed) local(ctx context.Context, requests int64) (sample, error) {
	out, used, err := runProcess(ctx, a.programs.plugin, "bench", "range", peerKey, "--local", "--endpoints="+a.server.url(), "--set=load.transport="+fast,
		"--conns=10", "--clients=100", "--consistency=s", "--val-size="+strconv.Itoa(valueSize), "--total="+strconv.FormatInt(requests, 10), "--output=json")
	if err != nil {
		return nil, err
	}
	var run struct {
		Status struct {
			Summary struct{ Operations []struct{ Succeeded int64 } }
		}
	}
	if err := json.Unmarshal(out, &run); err != nil {
		return nil, fmt.Errorf("the result of the plugin: %w", err)
	}
	if o := run.Status.Summary.Operations; len(o) != 1 || o[0].Succeeded != requests {
		return nil, fmt.Errorf("the plugin: wanted %d successful requests, found %+v", requests, o)
	}
	s := sample{}
	s.charge(used, requests)
	return s, nil
}
