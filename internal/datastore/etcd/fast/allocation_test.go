package fast

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// serveEnv makes the test binary run as a server in its own process, so that the allocations in the test's process are
// the client's. Its value says whether the server uses TLS.
const serveEnv = "ETCDBENCH_FAST_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(serveEnv) {
	case "plain":
		serveOther()
	case "TLS":
		serveOther(withTLS())
	default:
		os.Exit(m.Run())
	}
}

// serveOther prints its address and serves until its standard input ends.
func serveOther(options ...grpc.ServerOption) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := newServer(&kv{
		ranges: foundLarge,
		puts:   func(context.Context, *pb.PutRequest) (*pb.PutResponse, error) { return &pb.PutResponse{}, nil },
		txns: func(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error) {
			return &pb.TxnResponse{Succeeded: true}, nil
		},
	}, options...)
	go func() { _ = server.Serve(listener) }()
	fmt.Println(listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// largeKey is a key with a value that takes several reads and many frames.
const largeKey = "large"

func foundLarge(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if string(r.Key) != largeKey {
		return found(ctx, r)
	}
	return &pb.RangeResponse{Count: 1, Kvs: []*mvccpb.KeyValue{{Key: r.Key, Value: make([]byte, 100_000)}}}, nil
}

// serverProcess starts a server that ends with the test, and returns its address.
func serverProcess(t *testing.T, kind string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"="+kind)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = stdin.Close(), cmd.Wait() })
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// team sends one request repeatedly, with several clients on one connection.
type team struct {
	conn    *eventloop.Conn
	members []member
	request load.Request
	// left is the number of requests to send, and flying the number in flight.
	left, flying int
	failed       load.Response
	ended        chan struct{}
}

type member struct {
	slot     load.Slot
	response load.Response
}

func newTeam(conn *eventloop.Conn, members int) *team {
	m := &team{conn: conn, members: make([]member, members), ended: make(chan struct{}, 1)}
	for i := range m.members {
		own := &m.members[i]
		own.slot = conn.Slot(func() { m.next(own) })
	}
	return m
}

// next sends the next request when a member's request has ended.
func (m *team) next(own *member) {
	m.flying--
	if !own.response.Succeeded() {
		m.failed = own.response
	}
	m.send(own)
	if m.flying == 0 {
		m.ended <- struct{}{}
	}
}

func (m *team) send(own *member) {
	if m.left > 0 {
		m.left--
		m.flying++
		own.slot.Send(results.PhaseMeasured, &m.request, &own.response)
	}
}

// run sends this many requests and waits until all have ended.
func (m *team) run(t *testing.T, requests int) {
	t.Helper()
	m.conn.Loop().Post(func() {
		m.left = requests
		for i := range m.members {
			m.send(&m.members[i])
		}
	})
	<-m.ended
	if m.failed.Code != "" {
		t.Fatalf("got %+v", m.failed)
	}
}

// TestNothingIsAllocatedPerRequest runs each operation until its pools are full, and counts the later allocations.
func TestNothingIsAllocatedPerRequest(t *testing.T) {
	key, value := []byte("etcdbench/00000000/00000000"), make([]byte, 256)
	pairs := []load.Pair{{Key: key, Value: value}, {Key: key, Value: value}, {Key: key, Value: value}}
	operations := []spec.Operation{
		spec.OperationRange, spec.OperationPut, spec.OperationDelete, spec.OperationTxn,
		spec.OperationCompareAndSwap, spec.OperationLeaseGrant, spec.OperationLeaseRevoke,
	}
	needs := map[spec.Operation]int64{spec.OperationRange: 1, spec.OperationDelete: 1, spec.OperationCompareAndSwap: 1}
	for kind, config := range map[string]Config{"plain": {}, "TLS": {TLS: servertest.Trust()}} {
		config.Options.TTLSeconds = 60
		counter := &recordCounter{}
		if config.TLS != nil {
			config.Wrap = counter.wrap
		}
		conn := open(t, newTestClient(t, config), serverProcess(t, kind))
		for _, operation := range operations {
			t.Run(fmt.Sprint(kind, " ", operation), func(t *testing.T) {
				m := newTeam(conn, 3)
				m.request = load.Request{
					Operation: operation, Key: key, Value: value, Pairs: pairs, Lease: 7, Needs: needs[operation], Timeout: time.Minute,
				}
				steady(t, m, 5_000, counter)
			})
		}
		t.Run(kind+" large replies", func(t *testing.T) {
			m := newTeam(conn, 3)
			m.request = load.Request{Operation: spec.OperationRange, Key: []byte(largeKey), Needs: 1, Timeout: time.Minute}
			steady(t, m, 1_000, counter)
		})
		t.Run(kind+" large requests", func(t *testing.T) {
			m := newTeam(conn, 3)
			m.request = load.Request{Operation: spec.OperationPut, Key: key, Value: make([]byte, 200_000), Timeout: time.Minute}
			steady(t, m, 500, counter)
		})
	}
}

// steady counts a team's allocations in this many requests, after requests that fill the pools.
func steady(t *testing.T, m *team, requests int, counter *recordCounter) {
	t.Helper()
	m.run(t, max(requests/5, 300))
	before := counter.read(m.conn)
	got := m.allocations(t, requests)
	// Each TLS record may take one allocation. The 50 are for allocations that do not grow with the requests, such as
	// the runtime's.
	if most := counter.read(m.conn) - before + 50; got > most {
		t.Errorf("%d requests made %d allocations, wanted at most %d", requests, got, most)
	}
}

// recordHeaderLen is the length of a TLS record's header, in bytes. Its last two bytes are the record's length.
const recordHeaderLen = 5

// recordCounter counts the TLS records that a socket reads: none, if it wraps no socket.
type recordCounter struct {
	eventloop.Socket
	// unread are the bytes of an incomplete header, and left the rest of the current record.
	unread  []byte
	left    int
	records int
}

func (c *recordCounter) wrap(s eventloop.Socket) eventloop.Socket {
	c.Socket = s
	return c
}

// read returns how many records a connection's loop has read. No response may be in flight.
func (c *recordCounter) read(conn *eventloop.Conn) (records int) {
	onLoop(conn, func() { records = c.records })
	return records
}

func (c *recordCounter) Read(p []byte) (int, error) {
	n, err := c.Socket.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if c.left == 0 {
			missing := min(recordHeaderLen-len(c.unread), len(rest))
			c.unread, rest = append(c.unread, rest[:missing]...), rest[missing:]
			if len(c.unread) < recordHeaderLen {
				break
			}
			c.left, c.unread = int(binary.BigEndian.Uint16(c.unread[3:])), c.unread[:0]
			c.records++
		}
		past := min(c.left, len(rest))
		c.left, rest = c.left-past, rest[past:]
	}
	return n, err
}

// onLoop calls f on a connection's loop and waits until it returns.
func onLoop(conn *eventloop.Conn, f func()) {
	done := make(chan struct{})
	conn.Loop().Post(func() { f(); close(done) })
	<-done
}

// allocations returns the number of allocations in this many requests.
func (m *team) allocations(t *testing.T, requests int) int {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m.run(t, requests)
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs)
}
