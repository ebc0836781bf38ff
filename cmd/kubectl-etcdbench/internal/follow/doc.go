// Package follow creates, stops and follows runs in a cluster.
//
// It imports the API and a Kubernetes client. Its one invariant: following always ends, with the finished run or with
// an error that has the reason. It survives closed watches and restarts of the API server.
package follow
