// Package follow creates, stops and follows runs and suites in a cluster.
//
// It imports the API and a Kubernetes client. Following always ends, with the finished object or with an error that has
// the reason. It survives closed watches and restarts of the API server.
package follow
