package eventloop

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// dialLater calls dialed with the result of a dial after a pause, on another goroutine. The dial's timeout begins when a
// dialer takes it, and so does the attempt.
func (c *Client) dialLater(ctx context.Context, pause time.Duration, t *attempt, done func(dialed, error)) {
	dial := func() {
		ctx, cancel := context.WithTimeout(ctx, c.config.DialTimeout)
		defer cancel()
		began := load.Now()
		t.began.Store(int64(began))
		d, err := c.dial(ctx, t.address)
		d.began = began
		done(d, err)
	}
	if pause <= 0 {
		c.dialers.do(t.address, dial)
		return
	}
	timer := time.AfterFunc(pause, func() { c.dialers.do(t.address, dial) })
	context.AfterFunc(ctx, func() {
		if timer.Stop() {
			done(dialed{}, context.Cause(ctx))
		}
	})
}

// dial connects and does the handshakes.
func (c *Client) dial(ctx context.Context, address string) (dialed, error) {
	var dialer net.Dialer
	tcp, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return dialed{}, err
	}
	transport, err := c.prepare(ctx, tcp, address)
	if err != nil {
		_ = tcp.Close()
		return dialed{}, err
	}
	return dialed{tcp: tcp, tls: transport}, nil
}

// prepare makes a connection ready for the protocol; it returns nil without TLS.
func (c *Client) prepare(ctx context.Context, tcp net.Conn, address string) (*tlsTransport, error) {
	if err := setUserTimeout(tcp, c.config.KeepAliveTimeout); err != nil || c.config.TLS == nil {
		return nil, err
	}
	return c.shakeHands(ctx, tcp, address)
}

func (c *Client) shakeHands(ctx context.Context, tcp net.Conn, address string) (*tlsTransport, error) {
	config := c.config.TLS.Clone()
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("%s is not host:port: %w", address, err)
		}
		config.ServerName = host
	}
	t := &tlsTransport{records: &recordConn{Conn: tcp}}
	t.conn = tls.Client(t.records, config)
	if err := t.conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if p := t.conn.ConnectionState().NegotiatedProtocol; len(config.NextProtos) > 0 && p != config.NextProtos[0] {
		return nil, fmt.Errorf("%s does not speak %s over TLS: it negotiated %q", address, config.NextProtos[0], p)
	}
	return t, nil
}

// deliver hands a connection over to its loop, or closes it if the client has ended.
func (c *Client) deliver(conn *Conn, t *attempt, d dialed, err error) {
	conn.loop.Post(func() { conn.connected(t, d, err) })
	if c.living.Err() != nil {
		d.close()
	}
}

// close closes a connection that no loop has taken over.
func (d dialed) close() {
	if d.tcp != nil {
		_ = d.tcp.Close()
	}
}
