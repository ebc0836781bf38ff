// Package uninstall ends every run before the operator is removed. While the operator still works, it receives the
// request to stop the runs. Runs that do not end in time are released.
//
// It imports the API and a Kubernetes client. Its one invariant: after Release returns without an error, no
// EtcdBenchmark in its namespaces has the operator's finalizer, so it can be deleted without the operator.
package uninstall
