// Package local runs an EtcdBenchmark on this machine, without a cluster. It does the operator's work for sessions in
// its own process, and can start etcd members as their target.
//
// It is wiring: it imports the engine, the drivers and the API. It writes status with the functions that the operator
// uses, so that the finished object is the one that a cluster would show.
package local
