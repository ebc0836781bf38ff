// Package controllers reconciles EtcdBenchmarks: each reconcile gets the
// object, observes all that belongs to it, decides, acts, writes status once and
// announces what changed.
//
// It imports the API, its own internal packages, the contracts with the client
// pods, and controller-runtime; never the load engine, a datastore or an etcd
// client. Its one invariant: all memory of a run is in the API server, so that
// an operator that is ended at any line and started again loses nothing.
package controllers
