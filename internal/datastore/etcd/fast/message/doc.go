// Package message writes the requests and reads the responses of etcd's KV and Lease services as protobuf, field by
// field.
//
// It is pure and imports protowire. It writes and reads the same bytes as the types of go.etcd.io/etcd/api; tests
// compare both.
package message
