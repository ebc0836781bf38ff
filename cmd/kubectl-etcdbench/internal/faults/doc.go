// Package faults has only tests. Each puts one fault into a real etcd, or into the load generator, and wants the run's
// result to name this fault and no other.
//
// The members are processes of hack/tools' etcd-slow on loopback. A test sets the time of their flushes and applies, on
// any disk, and proxies delay their traffic. Tests whose results a busy machine would change are named TestAlone…: make
// test-alone runs them. The tests may import the same packages as the tool. They compare with a run without a fault,
// and are never more exact than the fault.
package faults
