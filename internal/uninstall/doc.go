// Package uninstall suspends every schedule and ends every suite and run before the operator is removed. It asks the
// operator, which still runs at this time, to stop them. It releases the runs that do not end in time.
//
// It imports the API and a Kubernetes client. After Release returns without an error, no EtcdBenchmark in the
// namespaces that it may read has the operator's finalizer, so it can be deleted without the operator.
package uninstall
