// Command demo shows the main job from nothing: it finds or starts a cluster,
// installs the operator, starts an etcd of three members, runs
// config/samples/etcdbenchmark_put.yaml and prints its result. `make demo`
// builds what it needs and calls it.
//
// It imports the API, internal/benchmark and the standard library, and runs the
// programs that a user would run. Its one invariant: it touches no cluster that
// it did not start, unless CLUSTER=current says so.
package main
