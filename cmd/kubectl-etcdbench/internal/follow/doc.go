// Package follow creates, stops and follows runs in a cluster.
//
// It imports the API and a Kubernetes client. Its one invariant: following ends
// by itself, with the finished run or with an error that says why there is
// none; it survives watches that close and API servers that restart.
package follow
