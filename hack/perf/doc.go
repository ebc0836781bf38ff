// Command perf measures the project's own promises about speed, side by side
// with the plainest thing that could do the same:
//
//	go run ./hack/perf times
//	go run ./hack/perf clients [-rows range,put]
//	go run ./hack/perf memory
//	go run ./hack/perf parity
//
// times needs a cluster with the operator in it (make cluster-up deploy) and
// alternates, ten times, between an EtcdBenchmark and a bare Indexed Job of the
// same image and pod count. It writes every value to out/perf-times.json and
// prints their medians as a Markdown table. The others compare load generators,
// without a cluster: package clients holds them.
//
// It may import the API and Kubernetes clients. Its invariant: all numbers of one
// row come from one machine, so the cluster must be one node, this one.
package main
