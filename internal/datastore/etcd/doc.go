// Package etcd is the driver of etcd. It checks the target, claims the run's prefix, sends requests over clientv3 or
// over its package fast, and deletes the run's keys.
//
// It imports load for the contract of drivers, plan, results, fast, and etcd's client. It never imports Kubernetes. It
// writes and deletes only under the run's prefix, and only while the run's marker covers the prefix.
package etcd
