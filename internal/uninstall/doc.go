// Package uninstall ends every run before the operator is removed: while the
// operator still works it is told to stop the runs, and what it cannot end in
// time is released.
//
// It imports the API and a Kubernetes client. Its one invariant: after Release
// returns without an error, no EtcdBenchmark in its namespaces holds the
// operator's finalizer, so that none is stuck once the operator is gone.
package uninstall
