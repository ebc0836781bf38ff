// Package etcdtest starts real etcd members for tests: in this process, on
// loopback addresses, with their data in memory where there is room for it.
//
// Tests import it, and nothing else does; it imports etcd and no package of
// this project but plan. Its one invariant: what it starts ends with the test.
package etcdtest
