// Package faults has tests alone: each hurts a real etcd, or the load generator,
// in one way, and wants the run's result to say that and nothing else.
//
// The members are processes of hack/tools' etcd-slow on loopback, whose flushes
// take as long as a test says, on any disk, as does applying a request, and proxies
// that delay what they carry. The tests may import whatever the tool may. Their one
// invariant: what they want is a difference to a run in which nothing is slow, and
// never more exact than what was done to the etcd.
package faults
