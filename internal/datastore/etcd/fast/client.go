package fast

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Config says how a client connects. The zero value is a client without TLS
// and authentication.
type Config struct {
	// TLS is nil for plain connections. Its ServerName may be empty: then it is
	// the host that is dialed.
	TLS *tls.Config
	// Token gets a token of etcd's authentication; nil if there is none. It is
	// called before the first connection, and when a server refuses the token.
	Token func(context.Context) (string, error)
	// Members are the IDs of the members to which addresses have to lead, by
	// host:port. Each link to one of these is asked before it takes calls, by
	// reading MemberKey, which the user must be allowed to.
	Members   map[string]uint64
	MemberKey []byte
	// DialTimeout bounds each try to connect, the handshakes included; 0 is
	// 5 s.
	DialTimeout time.Duration
	// KeepAliveTime is after how long without a word from a server that owes an
	// answer it is asked for a sign of life, and KeepAliveTimeout after how long
	// without one the connection is given up; 0 is 30 s and 10 s.
	KeepAliveTime, KeepAliveTimeout time.Duration
	// Loops is the number of event loops; 0 chooses it by the processors.
	Loops int
	// StreamWindow and ConnWindow are the flow-control windows that servers
	// get, in bytes; 0 is 1 MiB and 16 MiB.
	StreamWindow, ConnWindow int
	// MaxMessage is the longest response in bytes; 0 is 64 MiB.
	MaxMessage int
	// LastStream is the last stream of a connection before it is replaced; 0 is
	// HTTP/2's.
	LastStream uint32
	// Portable avoids what only some systems have.
	Portable bool
}

func (c Config) withDefaults() Config {
	c.Loops = cmp.Or(c.Loops, max(1, runtime.GOMAXPROCS(0)/2))
	c.StreamWindow = cmp.Or(c.StreamWindow, 1<<20)
	c.ConnWindow = max(cmp.Or(c.ConnWindow, 16<<20), frame.DefaultWindow)
	c.MaxMessage = cmp.Or(c.MaxMessage, 64<<20)
	c.DialTimeout = cmp.Or(c.DialTimeout, 5*time.Second)
	c.KeepAliveTime = cmp.Or(c.KeepAliveTime, 30*time.Second)
	c.KeepAliveTimeout = cmp.Or(c.KeepAliveTimeout, 10*time.Second)
	return c
}

// Client opens connections and runs the loops that serve them.
type Client struct {
	config Config
	loops  []*loop
	tokens *tokens
	slots  slots
	// living ends with the client.
	living context.Context
	end    context.CancelFunc

	waiters sync.Pool
	mutex   sync.Mutex
	conns   []*Conn
}

// NewClient returns a client that connects to nothing yet. Close must follow.
func NewClient(config Config) (*Client, error) {
	config = config.withDefaults()
	c := &Client{config: config, slots: slots{byAddress: map[string]chan struct{}{}}}
	c.living, c.end = context.WithCancel(context.Background())
	c.tokens = &tokens{client: c}
	for range config.Loops {
		p, err := c.newPoller()
		if err != nil {
			c.Close()
			return nil, err
		}
		c.loops = append(c.loops, newLoop(p))
	}
	return c, nil
}

func (c *Client) newPoller() (poller, error) {
	if c.config.Portable {
		return newPortablePoller(), nil
	}
	return newPoller()
}

// Connect opens a connection to host:port and returns it when the server has
// greeted, and is the member that is meant: else the error is a
// WrongMemberError. index spreads connections over the loops.
func (c *Client) Connect(ctx context.Context, address string, index int) (*Conn, error) {
	if err := c.tokens.first(ctx); err != nil {
		return nil, err
	}
	conn := c.newConn(address, index)
	opened := conn.opened
	conn.loop.Post(conn.connect)
	if err := await(ctx, opened); err != nil {
		conn.loop.Post(conn.close)
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	return conn, nil
}

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
		links: map[*link]struct{}{}, opened: make(chan error, 1),
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.conns = append(c.conns, conn)
	return conn
}

// Requests counts what was sent, by RPC and phase.
func (c *Client) Requests() map[results.RPC]map[results.Phase]uint64 {
	sum := map[results.RPC]map[results.Phase]uint64{}
	for _, l := range c.loops {
		for rpc, phases := range l.requests.Counts() {
			if sum[rpc] == nil {
				sum[rpc] = map[results.Phase]uint64{}
			}
			for phase, n := range phases {
				sum[rpc][phase] += n
			}
		}
	}
	return maps.Clone(sum)
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
