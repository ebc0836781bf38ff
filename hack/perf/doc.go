// Command perf measures the project's own promises about time, side by side
// with the plainest thing that could do the same:
//
//	go run ./hack/perf times
//
// It needs a cluster with the operator in it (make cluster-up deploy) and
// alternates, ten times, between an EtcdBenchmark and a bare Indexed Job of the
// same image and pod count. It writes every value to out/perf-times.json and
// prints their medians as a Markdown table.
//
// It may import the API and Kubernetes clients. Its invariant: all times of one
// row come from clocks of one machine, so the cluster must be one node, this one.
package main
