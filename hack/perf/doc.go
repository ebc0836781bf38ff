// Command perf compares load generators: this project's, over both of its transports, with etcd's own benchmark tool
// and with h2load, on one real etcd that keeps its data in memory.
//
//	go run ./hack/perf clients [-rows range,put]
//	go run ./hack/perf memory
//	go run ./hack/perf parity
//
// It writes its tables into results.md, and every value into out/perf.
//
// It may import the contracts (plan, results), an etcd client and the standard library. Every side of a comparison is
// its own process, which is charged for its whole life. The sides alternate, so that other activity on the machine
// affects all of them equally.
package main
