package wire

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire/wiretest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// serveEnv makes the test binary run as a server in its own process, so that the allocations in the test's process are
// the client's. Its value says whether the server uses TLS.
const serveEnv = "ETCDBENCH_WIRE_TEST_SERVER"

func TestMain(m *testing.M) {
	kind := os.Getenv(serveEnv)
	if kind == "" {
		os.Exit(m.Run())
	}
	// It prints its address and serves until its standard input ends.
	s := &lineServer{secure: kind == "TLS"}
	if err := s.listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	fmt.Println(s.address)
	_, _ = io.Copy(io.Discard, os.Stdin)
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
	conn    *Conn
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

func newTeam(conn *Conn, members int, words []byte) *team {
	m := &team{
		conn: conn, members: make([]member, members), ended: make(chan struct{}, 1),
		request: load.Request{Key: words, Timeout: time.Minute},
	}
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

// TestNothingIsAllocatedPerRequest runs calls until all pools are full, and counts the later allocations.
func TestNothingIsAllocatedPerRequest(t *testing.T) {
	for kind, config := range map[string]Config{"plain": {}, "TLS": {TLS: wiretest.Trust("lines")}} {
		counter := &recordCounter{}
		if config.TLS != nil {
			config.Wrap = counter.wrap
		}
		conn := open(t, newLineClient(t, lineConfig{Config: config}), serverProcess(t, kind))
		for name, tc := range map[string]struct {
			words    []byte
			requests int
		}{
			"small calls":   {[]byte("a few words"), 5_000},
			"large answers": {[]byte("large answer"), 1_000},
			"large calls":   {append([]byte("count "), make([]byte, 200_000)...), 500},
		} {
			t.Run(kind+" "+name, func(t *testing.T) { steady(t, newTeam(conn, 3, tc.words), tc.requests, counter) })
		}
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

// allocations returns the number of allocations in this many requests.
func (m *team) allocations(t *testing.T, requests int) int {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m.run(t, requests)
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs)
}

// recordCounter counts the TLS records that a socket reads.
type recordCounter struct {
	Socket
	// unread are the bytes of an incomplete header, and left the rest of the current record.
	unread  []byte
	left    int
	records int
}

func (c *recordCounter) wrap(s Socket) Socket {
	c.Socket = s
	return c
}

// read returns how many records a connection's loop has read.
func (c *recordCounter) read(conn *Conn) (records int) {
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
			c.left, c.unread = recordLen(c.unread)-recordHeaderLen, c.unread[:0]
			c.records++
		}
		past := min(c.left, len(rest))
		c.left, rest = c.left-past, rest[past:]
	}
	return n, err
}
