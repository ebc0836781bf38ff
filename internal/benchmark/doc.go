// Package benchmark translates between an EtcdBenchmark and the two contracts
// with the client pods: the plan that goes in and the results that come out.
// It also judges objectives and prints results for people.
//
// It is pure: it imports the API, the contracts and API machinery types, and no
// client, context, clock, logger or goroutine. Its one invariant: the operator
// and a run without a cluster use these functions and no others, so that the
// same numbers give the same status.
package benchmark
