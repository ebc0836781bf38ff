package fast

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// dial connects and shakes hands, on a goroutine of its own.
func (c *Client) dial(address string) (dialed, error) {
	ctx, cancel := context.WithTimeout(c.living, c.config.DialTimeout)
	defer cancel()
	select {
	case c.dials <- struct{}{}:
		defer func() { <-c.dials }()
	case <-c.living.Done():
		return dialed{}, context.Cause(c.living)
	}
	var dialer net.Dialer
	tcp, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return dialed{}, err
	}
	transport, err := c.prepare(ctx, tcp, address)
	if err != nil {
		_ = tcp.Close()
	}
	return dialed{tcp: tcp, tls: transport}, err
}

// prepare makes a connection ready for HTTP/2; it returns nil without TLS.
func (c *Client) prepare(ctx context.Context, tcp net.Conn, address string) (*tlsTransport, error) {
	if err := limitSilence(tcp, c.config.KeepAliveTimeout); err != nil || c.config.TLS == nil {
		return nil, err
	}
	return c.shakeHands(ctx, tcp, address)
}

func (c *Client) shakeHands(ctx context.Context, tcp net.Conn, address string) (*tlsTransport, error) {
	config := c.config.TLS.Clone()
	config.NextProtos = []string{"h2"}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("%s is not host:port: %w", address, err)
		}
		config.ServerName = host
	}
	t := &tlsTransport{wire: &wire{Conn: tcp}}
	t.conn = tls.Client(t.wire, config)
	if err := t.conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if p := t.conn.ConnectionState().NegotiatedProtocol; p != "h2" {
		return nil, fmt.Errorf("%s does not speak HTTP/2 over TLS: it negotiated %q instead of h2", address, p)
	}
	return t, nil
}

// deliver hands a connection over to its loop, or ends it if the loop has
// ended.
func (c *Client) deliver(conn *Conn, d dialed, address string, err error) {
	conn.loop.Post(func() { conn.connected(d, address, err) })
	if c.living.Err() != nil && d.tcp != nil {
		_ = d.tcp.Close()
	}
}
