// Package local runs an EtcdBenchmark on this machine, without a cluster: it
// plays the operator for sessions in its own process, and can start etcd
// members for them to load.
//
// It is wiring: it sees the engine, the etcd driver and the API. Its one
// invariant: status is written with the functions that the operator uses, so
// that the finished object is the one that a cluster would show.
package local
