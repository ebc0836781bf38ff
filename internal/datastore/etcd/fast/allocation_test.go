package fast

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
)

// serveEnv makes the test's program a server, in a process of its own: so what
// is allocated in the test's process is the client's. Its value says whether
// over TLS.
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

// serveOther tells its address and serves until its standard input ends.
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

// team sends one request over and over, with several clients on one connection.
type team struct {
	conn    *Conn
	members []member
	request load.Request
	// left are the requests to send, and flying those that have not ended.
	left, flying int
	failed       load.Response
	ended        chan struct{}
}

type member struct {
	lane     *Lane
	response load.Response
}

func newTeam(conn *Conn, members int) *team {
	m := &team{conn: conn, members: make([]member, members), ended: make(chan struct{}, 1)}
	for i := range m.members {
		own := &m.members[i]
		own.lane = newLane(conn, func() { m.next(own) })
	}
	return m
}

// next goes on when a member's request has ended.
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
		own.lane.Send(results.PhaseMeasured, &m.request, &own.response)
	}
}

// run sends so many requests and waits for the end of the last.
func (m *team) run(t *testing.T, requests int) {
	t.Helper()
	m.conn.loop.Post(func() {
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

// TestNothingIsAllocatedPerRequest runs each operation until its pools are full,
// and counts what is allocated afterwards.
func TestNothingIsAllocatedPerRequest(t *testing.T) {
	key, value := []byte("etcdbench/00000000/00000000"), make([]byte, 256)
	pairs := []load.Pair{{Key: key, Value: value}, {Key: key, Value: value}, {Key: key, Value: value}}
	operations := []results.Operation{
		results.OperationRange, results.OperationPut, results.OperationDelete, results.OperationTxn,
		results.OperationCompareAndSwap, results.OperationLeaseGrant, results.OperationLeaseRevoke,
	}
	for kind, config := range map[string]Config{"plain": {}, "TLS": {TLS: trust()}} {
		conn := open(t, newTestClient(t, config), serverProcess(t, kind))
		records := countRecords(conn)
		for _, operation := range operations {
			t.Run(fmt.Sprint(kind, " ", operation), func(t *testing.T) {
				m := newTeam(conn, 3)
				m.request = load.Request{
					Operation: operation, Key: key, Value: value, Pairs: pairs, Lease: 7, TTLSeconds: 60, Timeout: time.Minute,
				}
				steady(t, m, 5_000, records)
			})
		}
		t.Run(kind+" large replies", func(t *testing.T) {
			m := newTeam(conn, 3)
			m.request = load.Request{Operation: results.OperationRange, Key: []byte(largeKey), Timeout: time.Minute}
			steady(t, m, 1_000, records)
		})
		t.Run(kind+" large requests", func(t *testing.T) {
			m := newTeam(conn, 3)
			m.request = load.Request{Operation: results.OperationPut, Key: key, Value: make([]byte, 200_000), Timeout: time.Minute}
			steady(t, m, 500, records)
		})
	}
}

// steady counts what a team allocates in so many requests, after some that fill
// the pools.
func steady(t *testing.T, m *team, requests int, records func() int) {
	t.Helper()
	m.run(t, max(requests/5, 300))
	before := records()
	got := m.allocations(t, requests)
	// Each record of TLS may take one. The rest is for what does not grow with the
	// requests, such as the runtime's own.
	if most := records() - before + 50; got > most {
		t.Errorf("%d requests made %d allocations, wanted at most %d", requests, got, most)
	}
}

// recordCounter counts the records of TLS that a socket reads.
type recordCounter struct {
	socket
	// unread are the bytes of which the header is not whole yet, and left the rest
	// of the current record.
	unread  []byte
	left    int
	records int
}

func (c *recordCounter) read(p []byte) (int, error) {
	n, err := c.socket.read(p)
	for rest := p[:n]; len(rest) > 0; {
		if c.left == 0 {
			missing := min(recordHeaderLen-len(c.unread), len(rest))
			c.unread, rest = append(c.unread, rest[:missing]...), rest[missing:]
			if len(c.unread) < recordHeaderLen {
				break
			}
			c.left, c.unread = recordLen(c.unread)-recordHeaderLen, c.unread[:0]
			c.records++
		}
		past := min(c.left, len(rest))
		c.left, rest = c.left-past, rest[past:]
	}
	return n, err
}

// countRecords returns how to ask for the number of records that a connection
// has read so far: none, if it is plain. No answer may be on its way now.
func countRecords(conn *Conn) func() int {
	counter := &recordCounter{}
	onLoop(conn, func() {
		if secure, ok := conn.current.socket.(*tlsTransport); ok {
			counter.socket = secure.socket
			secure.socket = counter
		}
	})
	return func() (n int) {
		onLoop(conn, func() { n = counter.records })
		return n
	}
}

// onLoop calls f on a connection's loop and waits for its end.
func onLoop(conn *Conn, f func()) {
	done := make(chan struct{})
	conn.loop.Post(func() { f(); close(done) })
	<-done
}

// allocations returns how many there are in so many requests.
func (m *team) allocations(t *testing.T, requests int) int {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m.run(t, requests)
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs)
}
