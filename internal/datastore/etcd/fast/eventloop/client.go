package eventloop

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Config is the protocol of a client and how it connects. Session and Slot must be set.
type Config struct {
	// Session begins the protocol on a link.
	Session func(*Link) Session
	// Slot returns a place for one client on a connection; done is as in load.AsyncConn.
	Slot func(c *Conn, done func()) Call
	// Greeting names the first message of a server.
	Greeting string
	// TLS is nil for plain connections. If its ServerName is empty, the name is the host that is dialed. If it has
	// NextProtos, the server must choose the first of them.
	TLS *tls.Config
	// DialTimeout bounds each attempt to connect, handshakes included; 0 is 5 s.
	DialTimeout time.Duration
	// DialsAtOnce is how many connections to one address are dialed at once; 0 is 32.
	DialsAtOnce int
	// KeepAliveTime is how long a link with a call in flight may be silent before it sends a PING. KeepAliveTimeout is
	// how long it then waits before it gives the connection up. 0 is 30 s and 10 s.
	KeepAliveTime, KeepAliveTimeout time.Duration
	// Loops is the number of event loops; 0 chooses it by the processors.
	Loops int
	// Portable avoids features that only some systems have.
	Portable bool
	// Wrap, if set, wraps the socket of each link, below TLS.
	Wrap func(Socket) Socket
}

func (c Config) withDefaults() Config {
	c.Loops = cmp.Or(c.Loops, max(1, runtime.GOMAXPROCS(0)/2))
	c.DialTimeout = cmp.Or(c.DialTimeout, 5*time.Second)
	c.DialsAtOnce = cmp.Or(c.DialsAtOnce, dialsAtOnce)
	c.KeepAliveTime = cmp.Or(c.KeepAliveTime, 30*time.Second)
	c.KeepAliveTimeout = cmp.Or(c.KeepAliveTimeout, 10*time.Second)
	return c
}

// Client opens connections and runs the loops that serve them.
type Client struct {
	config  Config
	loops   []*loop
	dialers dialers
	// living ends with the client.
	living context.Context
	end    context.CancelFunc

	waiters sync.Pool
	mutex   sync.Mutex
	conns   []*Conn
}

// NewClient returns a client without connections. The caller must call Close.
func NewClient(config Config) (*Client, error) {
	config = config.withDefaults()
	c := &Client{config: config, dialers: dialers{atOnce: config.DialsAtOnce, byAddress: map[string]*dialQueue{}}}
	c.living, c.end = context.WithCancel(context.Background())
	for range config.Loops {
		p, err := c.newPoller()
		if err != nil {
			c.Close()
			return nil, err
		}
		c.loops = append(c.loops, newLoop(p, len(c.loops)))
	}
	return c, nil
}

func (c *Client) newPoller() (poller, error) {
	if c.config.Portable {
		return newPortablePoller(), nil
	}
	return newPoller()
}

// Loops is the number of event loops.
func (c *Client) Loops() int { return len(c.loops) }

// Living returns a context that ends with the client.
func (c *Client) Living() context.Context { return c.living }

// Connect opens a connection to host:port. It returns once the server has greeted and Session.Introduce has finished.
// index spreads connections over the loops.
func (c *Client) Connect(ctx context.Context, address string, index int) (*Conn, error) {
	conn := c.newConn(address, index)
	opened := conn.opened
	conn.loop.Post(conn.connect)
	if err := await(ctx, opened); err != nil {
		conn.loop.Post(conn.close)
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	return conn, nil
}

// ConnectLater returns a connection to host:port that is opened for its first call. index is as for Connect.
func (c *Client) ConnectLater(address string, index int) *Conn { return c.newConn(address, index) }

func await(ctx context.Context, opened <-chan error) error {
	select {
	case err := <-opened:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Client) newConn(address string, index int) *Conn {
	conn := &Conn{
		client: c, loop: c.loops[index%len(c.loops)], address: address,
		links: map[*Link]struct{}{}, opened: make(chan error, 1),
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.conns = append(c.conns, conn)
	return conn
}

// EachSession posts f for the sessions of all open links, each to its loop.
func (c *Client) EachSession(f func(Session)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, conn := range c.conns {
		conn.loop.Post(func() {
			for k := range conn.links {
				f(k.session)
			}
		})
	}
}

// Requests counts the requests sent, by RPC and phase.
func (c *Client) Requests() map[spec.RPC]map[results.Phase]uint64 {
	var all []map[spec.RPC]map[results.Phase]uint64
	for _, l := range c.loops {
		all = append(all, l.requests.Counts())
	}
	return load.AddRequests(all...)
}

// Close ends all connections and waits for the loops to end.
func (c *Client) Close() {
	c.end()
	c.mutex.Lock()
	conns := c.conns
	c.conns = nil
	c.mutex.Unlock()
	for _, conn := range conns {
		conn.loop.Post(conn.close)
	}
	for _, l := range c.loops {
		l.Post(func() { l.closed = true })
	}
	for _, l := range c.loops {
		<-l.done
	}
}
