// Package controllers reconciles EtcdBenchmarks. Each reconcile gets the object, observes everything that belongs to
// it, decides, acts, writes status once and announces the changes.
//
// It imports the API, its own internal packages, the contracts with the client pods, and controller-runtime, but no
// load engine, datastore or etcd client. The state of a run is in the API server, so the operator can be restarted at
// any line without a loss.
package controllers
