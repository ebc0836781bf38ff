package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// controlTimeout is the time-out that sessions beside the load ask for. go-zookeeper drops a connection
	// after two thirds of it without a byte. A shorter time-out would turn a server's pause
	// into lost connections.
	controlTimeout = 30 * time.Second
	// smallestFrame is the size of a load connection's buffers. go-zookeeper's default
	// is 1.5 MiB, twice for each connection.
	smallestFrame = 64 << 10
	// controlFrame is the size of the control session's buffers: it lists children and
	// sends transactions.
	controlFrame = 1 << 20
	// greetingTimeout bounds connecting to one address, and then its first response. A
	// server that hangs must not prevent a session with another one.
	greetingTimeout = 3 * time.Second
)

var (
	// errHungUp: the server closed the connection before its first response.
	errHungUp    = errors.New("the server closed the connection without a response")
	errNoSession = errors.New("the server opened no session")
	errFrame     = errors.New("the server broke the protocol: a response of an impossible length")
)

// session is a connection with a session of its own. After a loss go-zookeeper reconnects
// and resumes the session.
type session struct {
	*zk.Conn
	driver *Driver
	// room is the size limit of a response, in bytes.
	room  int
	phase atomic.Pointer[results.Phase]
	// dialing ends with the session.
	dialing context.Context
	end     context.CancelFunc
	// ready is closed when a server has opened the session. failed gets the error of each
	// address that did not.
	ready  chan struct{}
	once   sync.Once
	failed chan error

	// syncing is held while a sync is sent. writesSync gets a value just before a sync is written.
	syncing    sync.Mutex
	writesSync chan struct{}

	mutex  sync.Mutex
	socket net.Conn
	// past has the losses of the connection that have ended, and the newest time-out that the server granted. lost is when the
	// current loss began; zero if there is none.
	past results.Sessions
	lost time.Time
}

// open returns a session with one of the addresses. room is the size limit of requests and
// responses, in bytes.
func (d *Driver) open(ctx context.Context, timeout time.Duration, room int, addresses ...string) (*session, error) {
	creds, err := d.credentials()
	if err != nil {
		return nil, err
	}
	s := &session{driver: d, room: room, ready: make(chan struct{}), failed: make(chan error, len(addresses)), writesSync: make(chan struct{}, 1)}
	s.dialing, s.end = context.WithCancel(context.Background())
	s.setPhase(ctx)
	s.Conn, _, err = zk.Connect(addresses, timeout,
		zk.WithDialer(s.dial), zk.WithHostProvider(&hosts{addresses: addresses}), zk.WithEventCallback(s.event),
		zk.WithLogger(silence{}), zk.WithLogInfo(false), zk.WithMaxBufferSize(room), zk.WithMaxConnBufferSize(room))
	if err != nil {
		s.end()
		return nil, err
	}
	err = s.await(ctx, len(addresses))
	if creds.Auth != nil && err == nil {
		// go-zookeeper sends it again after a loss, before other requests.
		user := []byte(creds.Auth[plan.UsernameFile] + ":" + creds.Auth[plan.PasswordFile])
		_, err = within(ctx, func() (none struct{}, err error) { return none, s.AddAuth("digest", user) })
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// await waits until the session is open, or all addresses have failed.
func (s *session) await(ctx context.Context, addresses int) (err error) {
	ctx, cancel := context.WithTimeout(ctx, remote.Timeout)
	defer cancel()
	for range addresses {
		select {
		case <-s.ready:
			return nil
		case err = <-s.failed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// setPhase sets the phase for which the session's next requests are counted.
func (s *session) setPhase(ctx context.Context) {
	phase := load.PhaseOf(ctx)
	if now := s.phase.Load(); now == nil || *now != phase {
		s.phase.Store(&phase)
	}
}

// fail reports the error of an address to await.
func (s *session) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// close ends the session and the connection.
func (s *session) close() {
	s.end()
	select {
	case <-s.ready:
		s.Close()
	default:
		// There is no session, and Close would wait for one.
		go s.Close()
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.socket != nil {
		_ = s.socket.Close()
	}
}

func (s *session) dial(_, address string, _ time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.dialing, greetingTimeout)
	defer cancel()
	c, err := s.driver.connect(ctx, address)
	if err != nil {
		err = hungUp(err)
		s.fail(err)
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.dialing.Err() != nil {
		return nil, errors.Join(s.dialing.Err(), c.Close())
	}
	if s.socket != nil {
		// go-zookeeper does not close a connection without a session.
		s.fail(errNoSession)
		_ = s.socket.Close()
	}
	s.socket = c
	return &socket{Conn: c, session: s}, nil
}

// socket counts requests when they are written. go-zookeeper writes each request by one
// call of Write, and never two together.
type socket struct {
	net.Conn
	session *session
	// established: the first request, which opens the session, was written. gotResponse: a byte of
	// a response was read.
	established, gotResponse bool
	// greeting has the beginning of the first response, up to the session's time-out.
	greeting []byte
	// length has the bytes read so far of the next response's length. left is how many
	// bytes of the current response are still to be read.
	length []byte
	left   int
}

// The bytes of a request's code, and those of the session ID in the first request: 0 is a
// new session.
const (
	codeAt, codeEnd       = 8, 12
	sessionAt, sessionEnd = 20, 28
)

// The bytes of the session's time-out in the first response.
const timeoutAt, timeoutEnd = 8, 12

// Write implements net.Conn.
func (c *socket) Write(frame []byte) (int, error) {
	if rpc := c.rpc(frame); rpc != "" {
		c.session.driver.requests.Add(rpc, *c.session.phase.Load())
		if rpc == spec.RPCSync {
			select {
			case c.session.writesSync <- struct{}{}:
			default:
			}
		}
	}
	n, err := c.Conn.Write(frame)
	if err != nil && !c.gotResponse {
		c.session.fail(hungUp(err))
	}
	return n, err
}

// hungUp recognizes the errors of a connection that the server closed at once. Which one
// it is depends on how far the client had come.
func hungUp(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return errHungUp
	}
	return err
}

// rpc returns the name of a request, and an empty string for a ping, which is not counted.
func (c *socket) rpc(frame []byte) spec.RPC {
	if c.established {
		return rpcs[int32(binary.BigEndian.Uint32(frame[codeAt:codeEnd]))]
	}
	c.established = true
	if binary.BigEndian.Uint64(frame[sessionAt:sessionEnd]) != 0 {
		return spec.RPCResumeSession
	}
	return spec.RPCCreateSession
}

// rpcs has the requests that this driver sends, by their codes.
var rpcs = map[int32]spec.RPC{
	1: spec.RPCCreate, 2: spec.RPCDelete, 3: spec.RPCExists, 4: spec.RPCGetData, 5: spec.RPCSetData, 9: spec.RPCSync, 12: spec.RPCGetChildren, 14: spec.RPCMulti,
	100: spec.RPCAuth, -11: spec.RPCCloseSession,
}

// Read implements net.Conn.
func (c *socket) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !c.gotResponse {
		err = hungUp(err)
		c.session.fail(err)
	}
	c.gotResponse = c.gotResponse || n > 0
	c.greet(b[:n])
	if !c.follow(b[:n]) {
		c.session.fail(errFrame)
		return 0, errFrame
	}
	return n, err
}

// greet notes the time-out of the session, which the first response contains. It is 0 if the session has expired.
func (c *socket) greet(read []byte) {
	left := timeoutEnd - len(c.greeting)
	if left == 0 || len(read) == 0 {
		return
	}
	c.greeting = append(c.greeting, read[:min(left, len(read))]...)
	if len(c.greeting) < timeoutEnd {
		return
	}
	if granted := binary.BigEndian.Uint32(c.greeting[timeoutAt:]); granted > 0 {
		c.session.mutex.Lock()
		defer c.session.mutex.Unlock()
		c.session.past.Timeout = time.Duration(granted) * time.Millisecond
	}
}

// SetReadDeadline implements net.Conn. Without it go-zookeeper waits for minutes for the
// first response.
func (c *socket) SetReadDeadline(t time.Time) error {
	if !c.gotResponse && !t.IsZero() {
		t = time.Now().Add(greetingTimeout)
	}
	return c.Conn.SetReadDeadline(t)
}

// A response begins with its length, in lengthBytes bytes. go-zookeeper panics on lengths below leastResponse, and
// allocates any longer length.
const (
	lengthBytes   = 4
	leastResponse = 16
)

// follow returns whether the lengths in what was read are possible.
func (c *socket) follow(read []byte) bool {
	for len(read) > 0 {
		if skipped := min(c.left, len(read)); skipped > 0 {
			c.left, read = c.left-skipped, read[skipped:]
			continue
		}
		c.length, read = append(c.length, read[0]), read[1:]
		if len(c.length) < lengthBytes {
			continue
		}
		length := binary.BigEndian.Uint32(c.length)
		if length < leastResponse || int64(length) > int64(c.session.room) {
			return false
		}
		c.left, c.length = int(length), c.length[:0]
	}
	return true
}

// hosts gives go-zookeeper the addresses one after the other, and resolves a name each time
// it is dialed.
type hosts struct {
	addresses []string
	next      int
}

// Init implements zk.HostProvider. It ignores its argument, which go-zookeeper has shuffled.
func (h *hosts) Init([]string) error { return nil }

// Len implements zk.HostProvider.
func (h *hosts) Len() int { return len(h.addresses) }

// Next implements zk.HostProvider. After the last address go-zookeeper pauses.
func (h *hosts) Next() (address string, pause bool) {
	address, pause = h.addresses[h.next%len(h.addresses)], h.next > 0 && h.next%len(h.addresses) == 0
	h.next++
	return address, pause
}

// Connected implements zk.HostProvider.
func (h *hosts) Connected() { h.next = 0 }

// silence discards go-zookeeper's log: the driver reports errors itself.
type silence struct{}

// Printf implements zk.Logger.
func (silence) Printf(string, ...any) {}
