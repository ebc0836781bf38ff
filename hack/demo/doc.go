// Command demo shows the main use from scratch. It runs a first benchmark on three members of etcd on this machine. Then it
// finds or starts a cluster, installs the operator, starts an etcd of three members there and runs
// config/samples/etcdbenchmark_put.yaml against it. `make demo` calls it.
//
// It imports the standard library only, and runs the programs that a user would run. It touches no cluster that it did
// not start, unless CLUSTER=current is set.
package main
