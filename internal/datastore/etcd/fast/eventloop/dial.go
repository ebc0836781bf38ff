package eventloop

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"
)

// dialsAtOnce is how many connections to one address are dialed at once. It hides the round trips of TLS, and is too
// small to overload the target.
const dialsAtOnce = 32

// slots bound the dials to each address separately, so that an address that does not answer does not delay the others.
type slots struct {
	mutex     sync.Mutex
	byAddress map[string]chan struct{}
}

func (s *slots) of(address string) chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.byAddress[address] == nil {
		s.byAddress[address] = make(chan struct{}, dialsAtOnce)
	}
	return s.byAddress[address]
}

// dialAfter dials after a pause, once a slot is free. It runs on its own goroutine. Its timeout begins when it has the
// slot.
func (c *Client) dialAfter(ctx context.Context, pause time.Duration, address string) (dialed, error) {
	slot := c.slots.of(address)
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return dialed{}, context.Cause(ctx)
	}
	select {
	case slot <- struct{}{}:
		defer func() { <-slot }()
	case <-ctx.Done():
		return dialed{}, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.DialTimeout)
	defer cancel()
	return c.dial(ctx, address)
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
