package fast

import (
	"cmp"
	"context"
	"crypto/tls"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/login"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// Config is how a client connects, and which operations it has. The zero value is a client without TLS, authentication
// and operations.
type Config struct {
	// Calls are the first calls of operations. An operation without a call fails as Unimplemented.
	Calls map[spec.Operation]*Call
	// Options are the same for all requests.
	Options Options
	// TLS is nil for plain connections. If its ServerName is empty, the name is the host that is dialed.
	TLS *tls.Config
	// Tokens has the token of etcd's authentication; nil without authentication.
	Tokens *login.Tokens
	// Members are the IDs of the members that must answer, by host:port. On each link to one of these addresses, the
	// client reads MemberKey before the link takes calls. The user must be allowed to read it.
	Members   map[string]uint64
	MemberKey []byte
	// AnsweredBy, if set, is called with the address of a link and the ID of the member that answered there, if that is another
	// member than before. Calls come from all loops.
	AnsweredBy func(address string, member uint64)
	// Late: connections are opened for their first calls, and Response.Sent is when that began.
	Late bool
	// Bodies, if set, counts the messages of calls.
	Bodies *load.BodyCounter
	// DialTimeout, DialsAtOnce, KeepAliveTime, KeepAliveTimeout, Loops, Portable and Wrap are those of eventloop.Config.
	DialTimeout, KeepAliveTime, KeepAliveTimeout time.Duration
	DialsAtOnce, Loops                           int
	Portable                                     bool
	Wrap                                         func(eventloop.Socket) eventloop.Socket
	// StreamWindow and ConnWindow are the flow-control windows of servers, in bytes; 0 is 1 MiB and 16 MiB.
	StreamWindow, ConnWindow int
	// MaxMessage is the longest response in bytes; 0 is 64 MiB. MaxUnread bounds the total length of the responses that
	// have arrived in part; 0 is 512 MiB.
	MaxMessage, MaxUnread int
	// LastStream is the last stream ID of a connection before it is replaced; 0 is HTTP/2's.
	LastStream uint32
}

// Options are the fields of a run's requests that only etcd has.
type Options struct {
	// Limit is how many keys a read returns at most; 0 is all. KeysOnly leaves out values, CountOnly also keys.
	Limit               int64
	KeysOnly, CountOnly bool
	// TTLSeconds is the time to live of the leases that are granted.
	TTLSeconds int64
}

func (c Config) withDefaults() Config {
	c.StreamWindow = cmp.Or(c.StreamWindow, 1<<20)
	c.ConnWindow = max(cmp.Or(c.ConnWindow, 16<<20), frame.DefaultWindow)
	c.MaxMessage = cmp.Or(c.MaxMessage, 64<<20)
	c.MaxUnread = cmp.Or(c.MaxUnread, 512<<20)
	if c.TLS != nil {
		c.TLS = c.TLS.Clone()
		c.TLS.NextProtos = []string{"h2"}
	}
	return c
}

// Client opens connections to etcd.
type Client struct {
	*eventloop.Client
	config Config
	// unread counts the bytes reserved for responses that have arrived in part.
	unread *unary.Budget
	// pools are those of the loops.
	pools []*unary.Pool
}

// NewClient returns a client without connections. The caller must call Close.
func NewClient(config Config) (*Client, error) {
	config = config.withDefaults()
	c := &Client{config: config, unread: unary.NewBudget(config.MaxUnread)}
	connections, err := eventloop.NewClient(eventloop.Config{
		Session: c.newSession, Slot: c.newSlot, Greeting: "HTTP/2 settings",
		TLS: config.TLS, DialTimeout: config.DialTimeout, DialsAtOnce: config.DialsAtOnce, KeepAliveTime: config.KeepAliveTime, KeepAliveTimeout: config.KeepAliveTimeout,
		Loops: config.Loops, Portable: config.Portable, Wrap: config.Wrap,
	})
	if err != nil {
		return nil, err
	}
	c.Client, c.pools = connections, make([]*unary.Pool, connections.Loops())
	config.Tokens.OnRenewal(c.setToken)
	return c, nil
}

// Connect opens a connection to host:port. It returns once the server has greeted and, if required, the expected member
// has answered. If another member answers, the error is a WrongMemberError. index spreads connections over the loops.
func (c *Client) Connect(ctx context.Context, address string, index int) (*eventloop.Conn, error) {
	if err := c.config.Tokens.First(ctx); err != nil {
		return nil, err
	}
	return c.Client.Connect(ctx, address, index)
}

// setToken gives a token to all open links.
func (c *Client) setToken(token string) {
	c.EachSession(func(s eventloop.Session) { s.(*session).setToken(token) })
}

var _ load.AsyncConn = (*eventloop.Conn)(nil)
