package unary

import "github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"

// Ping asks the peer for a sign of life. Whatever it sends next is one.
func (c *Conn) Ping() {
	out := c.output()
	out.bytes = frame.AppendPing(out.bytes, make([]byte, frame.PingLen))
}
