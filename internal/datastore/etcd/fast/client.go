package fast

import (
	"cmp"
	"context"
	"crypto/tls"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Config says how a client connects, and what it can do. The zero value is a client
// without TLS and authentication that knows no operation.
type Config struct {
	// Calls are the first calls of operations. An operation that has none fails as
	// Unimplemented.
	Calls map[spec.Operation]*Call
	// Options are alike for all requests.
	Options Options
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
	// DialTimeout, KeepAliveTime, KeepAliveTimeout, Loops, Portable and Wrap are those
	// of wire.Config.
	DialTimeout, KeepAliveTime, KeepAliveTimeout time.Duration
	Loops                                        int
	Portable                                     bool
	Wrap                                         func(wire.Socket) wire.Socket
	// StreamWindow and ConnWindow are the flow-control windows that servers
	// get, in bytes; 0 is 1 MiB and 16 MiB.
	StreamWindow, ConnWindow int
	// MaxMessage is the longest response in bytes; 0 is 64 MiB. MaxUnread is how long
	// the responses that are being read may be together; 0 is 512 MiB.
	MaxMessage, MaxUnread int
	// LastStream is the last stream of a connection before it is replaced; 0 is
	// HTTP/2's.
	LastStream uint32
}

// Options are what etcd alone knows of the requests of a run.
type Options struct {
	// Limit is how many keys a read returns at most; 0 is all. KeysOnly leaves
	// out values, CountOnly also keys.
	Limit               int64
	KeysOnly, CountOnly bool
	// TTLSeconds is the time to live of leases that are granted.
	TTLSeconds int64
}

func (c Config) withDefaults() Config {
	c.StreamWindow = cmp.Or(c.StreamWindow, 1<<20)
	c.ConnWindow = max(cmp.Or(c.ConnWindow, 16<<20), frame.DefaultWindow)
	c.MaxMessage = cmp.Or(c.MaxMessage, 64<<20)
	c.MaxUnread = cmp.Or(c.MaxUnread, 512<<20)
	c.DialTimeout = cmp.Or(c.DialTimeout, 5*time.Second)
	if c.TLS != nil {
		c.TLS = c.TLS.Clone()
		c.TLS.NextProtos = []string{"h2"}
	}
	return c
}

// Client opens connections to etcd.
type Client struct {
	config Config
	wire   *wire.Client
	tokens *tokens
	// unread is how long the responses are together that are being read.
	unread *unary.Budget
	// pools are those of the loops.
	pools []*unary.Pool
}

// NewClient returns a client that connects to nothing yet. Close must follow.
func NewClient(config Config) (*Client, error) {
	config = config.withDefaults()
	c := &Client{config: config, unread: unary.NewBudget(config.MaxUnread)}
	c.tokens = &tokens{client: c}
	connections, err := wire.NewClient(wire.Config{
		Session: c.newSession, Lane: c.newLane, Greeting: "HTTP/2 settings",
		TLS: config.TLS, DialTimeout: config.DialTimeout, KeepAliveTime: config.KeepAliveTime, KeepAliveTimeout: config.KeepAliveTimeout,
		Loops: config.Loops, Portable: config.Portable, Wrap: config.Wrap,
	})
	if err != nil {
		return nil, err
	}
	c.wire, c.pools = connections, make([]*unary.Pool, connections.Loops())
	return c, nil
}

// Connect opens a connection to host:port and returns it when the server has
// greeted, and is the member that is meant: else the error is a
// WrongMemberError. index spreads connections over the loops.
func (c *Client) Connect(ctx context.Context, address string, index int) (*wire.Conn, error) {
	if err := c.tokens.first(ctx); err != nil {
		return nil, err
	}
	return c.wire.Connect(ctx, address, index)
}

// Requests counts what was sent, by RPC and phase.
func (c *Client) Requests() map[spec.RPC]map[results.Phase]uint64 { return c.wire.Requests() }

// Close ends all connections and waits for the loops to end.
func (c *Client) Close() { c.wire.Close() }

var _ load.LaneConn = (*wire.Conn)(nil)
