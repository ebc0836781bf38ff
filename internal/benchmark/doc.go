// Package benchmark translates between an EtcdBenchmark and the two contracts with the client pods: the plan and the
// results.
//
// It is pure: it imports the API, the contracts and API machinery types, and no client, context, clock, logger or
// goroutine. The operator and a run without a cluster use only these functions, so that the same numbers give the same
// status.
package benchmark
