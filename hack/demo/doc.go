// Command demo shows the main use from scratch. It runs a first benchmark on three members of etcd on this machine. Then it
// finds or starts a cluster, installs the operator and runs config/samples/published/suite_etcd_page.yaml there, which starts its own
// members. `make demo` calls it.
//
// It imports the standard library only, and runs the programs that a user would run. It touches no cluster that it did
// not start, unless CLUSTER=current is set.
package main
