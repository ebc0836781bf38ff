// Package etcd drives etcd: it checks the target, owns the run's prefix, sends
// requests over clientv3, or over its package fast, and deletes what was
// written.
//
// It imports load for the contract of drivers, plan, results, fast, and etcd's
// client. It never imports Kubernetes. Its one invariant: it writes or deletes
// nothing outside the run's prefix, and nothing under it that the run's marker
// does not cover.
package etcd
