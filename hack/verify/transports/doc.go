// Package transports tests that all transports have the same effect on a real etcd: with the same plan and seed, the
// store is the same afterwards, key by key. With the build tag versions, it tests this on other versions of etcd too.
//
// It imports the engine and the driver, and with the tag runs the programs in bin/tools. It reads the compared store
// with etcd's own client.
package transports
