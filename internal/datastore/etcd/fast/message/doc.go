// Package message writes the requests and reads the responses of etcd's KV and
// Lease services as protobuf, field by field.
//
// It is pure and imports protowire. Its one invariant: what it writes and reads
// is what the types of go.etcd.io/etcd/api write and read; tests hold it
// against them.
package message
