// Package etcdtest starts real etcd members for tests: in this process, on loopback addresses, with their data in
// memory if there is room for it.
//
// Only tests import it. It imports etcd, and of this project only plan.
package etcdtest
