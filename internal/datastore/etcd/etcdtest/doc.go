// Package etcdtest starts real etcd members for tests: in this process, on loopback addresses, with their data in
// memory if there is room for it.
//
// Only tests import it. It imports etcd, and of this project only plan. Its one invariant: what it starts ends with the
// test.
package etcdtest
