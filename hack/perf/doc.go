// Command perf compares load generators side by side: this project's, by both of its transports, with etcd's own
// benchmark tool and with h2load, on one real etcd that keeps its data in memory.
//
//	go run ./hack/perf clients [-rows range,put]
//	go run ./hack/perf memory
//	go run ./hack/perf parity
//
// It may import the contracts (plan, results), an etcd client and the standard library. Its one invariant: every side of
// a contest is a process of its own, whose whole life is charged to it, and sides take turns, so that what else the
// machine does meets all of them.
package main
