// Package transports tests that the transports do the same to a real etcd: with
// the same plan and seed, the store is the same afterwards, key by key. By the
// build tag versions it does so on other versions of etcd, too.
//
// It imports the engine and the driver, and with the tag runs the programs in
// bin/tools. Its one invariant: what it compares is read by etcd's own client.
package transports
