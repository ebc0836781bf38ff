package unary

import "github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"

// Ping sends a PING. Any frame from the peer shows that it is alive.
func (c *Conn) Ping() {
	out := c.output()
	out.bytes = frame.AppendPing(out.bytes, make([]byte, frame.PingLen))
}
