package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
)

// recorderSide is the name of the only side.
const recorderSide = "recorder"

// recorderComparison has no load: it measures the cost of recording a request that waited for a free client, or did not.
func recorderComparison(waited bool) comparison {
	name, benchmark, nanos := "recorder", "free", 60.0
	if waited {
		name, benchmark, nanos = "recorder-backlog", "backlog", 90
	}
	run := func(ctx context.Context, _ *testbed) (sample, error) {
		out, _, err := runProcess(ctx, "go", "test", "-run=^$", "-bench=^BenchmarkRecord$/^"+benchmark+"$", "-benchmem", "./internal/load")
		if err != nil {
			return nil, err
		}
		return parseGoBenchmark(string(out))
	}
	return comparison{
		name: name, what: "the recorder alone, in a Go benchmark (`BenchmarkRecord/" + benchmark + "`)",
		sides: []side{{recorderSide, run}},
		figures: []figure{
			{what: "a recorded request, ns", metric: recordNanos, of: recorderSide, bound: atMost(nanos)},
			{what: "allocations of a recorded request", metric: recordAllocations, of: recorderSide, bound: exactly(0)},
		},
	}
}

var goBenchmark = regexp.MustCompile(`(?m)^BenchmarkRecord\S*\s+(\d+)\s+([0-9.]+) ns/op\s.*?(\d+) allocs/op$`)

// parseGoBenchmark reads the output of `go test -bench -benchmem`.
func parseGoBenchmark(text string) (sample, error) {
	found := goBenchmark.FindStringSubmatch(text)
	if found == nil {
		return nil, fmt.Errorf("wanted a line with ns/op and allocs/op, found %.500q", text)
	}
	s := sample{}
	for i, m := range []metric{requestCount, recordNanos, recordAllocations} {
		value, err := strconv.ParseFloat(found[i+1], 64)
		if err != nil {
			return nil, err
		}
		s[m] = value
	}
	return s, nil
}
