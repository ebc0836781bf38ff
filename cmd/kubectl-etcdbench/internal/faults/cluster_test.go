package faults

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

const (
	// startLimit is how long members may take to elect a leader.
	startLimit = 60 * time.Second
	// startAttempts is how often members are started anew because somebody took
	// a port that had just been free.
	startAttempts = 3
	// neighboursKeys are so many that to count them takes a processor milliseconds,
	// and its answer nothing; they come in transactions of keysAtOnce.
	neighboursKeys = 20_000
	keysAtOnce     = 100
	// flushesPerCommit: the database's pages, and then what says which are of use.
	flushesPerCommit = 2
)

// fault is what makes a cluster slow.
type fault struct {
	// members is how many there are, 1 if it is 0.
	members int
	// flush and commit are how long members take to flush their log and to commit
	// their database.
	flush, commit time.Duration
	// apply is how long members take to apply a request, beside what it is: one
	// after the other, and not on a processor.
	apply time.Duration
	// peers and clients are how long a chunk is on its way, in either direction.
	peers, clients time.Duration
	// neighbours are others who count all keys of a member, one time after the
	// other. It then has one processor for them and for the run.
	neighbours int
	// arguments are added to each member's.
	arguments []string
	// silent members serve their metrics elsewhere.
	silent bool
}

// cluster are running members.
type cluster struct {
	fault   fault
	members []*member
	// endpoints are where clients go.
	endpoints []string
	// roads are the proxies to the members, if clients take any.
	roads []*proxy
}

// member is a process of its own.
type member struct {
	cmd *exec.Cmd
	// client and peer are the addresses at which it listens, advertised the one
	// at which the others look for it.
	client, peer, advertised string
	log                      bytes.Buffer
	// ended is closed once the process has ended.
	ended chan struct{}
}

// start starts a cluster that ends with the test.
func start(t *testing.T, f fault) *cluster {
	t.Helper()
	f.members = max(f.members, 1)
	for attempt := 1; ; attempt++ {
		c := &cluster{fault: f}
		err := c.start(t)
		if err == nil {
			c.open(t)
			c.settle(t)
			return c
		}
		if attempt == startAttempts {
			t.Fatalf("starting etcd: %v", err)
		}
	}
}

func (c *cluster) start(t *testing.T) error {
	ports := freeAddresses(t, 2*c.fault.members)
	var peers []string
	for i := range c.fault.members {
		m := &member{client: ports[2*i], peer: ports[2*i+1], advertised: ports[2*i+1]}
		if c.fault.peers > 0 {
			m.advertised = startProxy(t, m.peer, c.fault.peers).address()
		}
		c.members = append(c.members, m)
		peers = append(peers, fmt.Sprintf("%s=http://%s", name(i), m.advertised))
	}
	for i, m := range c.members {
		if err := m.start(t, i, strings.Join(peers, ","), c.fault); err != nil {
			return err
		}
	}
	return c.await(t)
}

// open is where clients find the members.
func (c *cluster) open(t *testing.T) {
	for _, m := range c.members {
		if c.fault.clients == 0 {
			c.endpoints = append(c.endpoints, m.client)
			continue
		}
		road := startProxy(t, m.client, c.fault.clients)
		c.roads, c.endpoints = append(c.roads, road), append(c.endpoints, road.address())
	}
}

// settle has the cluster's neighbours live beside it until the test ends.
func (c *cluster) settle(t *testing.T) {
	t.Helper()
	if c.fault.neighbours == 0 {
		return
	}
	ctx, leave := context.WithCancel(t.Context())
	var living sync.WaitGroup
	t.Cleanup(func() { leave(); living.Wait() })
	client := c.client(t, 0)
	for i := range neighboursKeys / keysAtOnce {
		puts := make([]clientv3.Op, keysAtOnce)
		for j := range puts {
			puts[j] = clientv3.OpPut(fmt.Sprintf("neighbours/%d/%d", i, j), "")
		}
		if _, err := client.Txn(ctx).Then(puts...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for range c.fault.neighbours {
		living.Go(func() {
			for ctx.Err() == nil {
				_, _ = client.Get(ctx, "neighbours/", clientv3.WithPrefix(), clientv3.WithCountOnly(), clientv3.WithSerializable())
			}
		})
	}
}

func name(i int) string { return fmt.Sprintf("member-%d", i) }

func (m *member) start(t *testing.T, i int, peers string, f fault) error {
	words := []string{
		program(t),
		"--name=" + name(i), "--data-dir=" + filepath.Join(t.TempDir(), "data"), "--log-level=error",
		"--listen-client-urls=http://" + m.client, "--advertise-client-urls=http://" + m.client,
		"--listen-peer-urls=http://" + m.peer, "--initial-advertise-peer-urls=http://" + m.advertised, "--initial-cluster=" + peers,
		// Elections, and requests that are slow to apply, are for those tests that
		// want them.
		"--heartbeat-interval=200", "--election-timeout=2000", "--warning-apply-duration=2s",
	}
	words = append(words, f.arguments...)
	if f.silent {
		words = append(words, "--listen-client-http-urls=http://"+freeAddresses(t, 1)[0])
	}
	m.cmd = exec.Command(words[0], words[1:]...)
	m.cmd.Env = append(os.Environ(), "SLOW_LOG_FLUSH="+f.flush.String(), "SLOW_DATABASE_FLUSH="+(f.commit/flushesPerCommit).String(), "SLOW_APPLY="+f.apply.String())
	if f.neighbours > 0 {
		m.cmd.Env = append(m.cmd.Env, "GOMAXPROCS=1")
	}
	m.cmd.Stdout, m.cmd.Stderr = &m.log, &m.log
	if err := m.cmd.Start(); err != nil {
		return err
	}
	m.ended = make(chan struct{})
	go func() {
		_ = m.cmd.Wait()
		close(m.ended)
	}()
	t.Cleanup(func() {
		_ = m.cmd.Process.Kill()
		<-m.ended
		if t.Failed() {
			t.Logf("%s said: %s", name(i), m.log.Bytes())
		}
	})
	return nil
}

// program is the etcd that is slow where it is told to be.
func program(t *testing.T) string {
	t.Helper()
	tools := os.Getenv("KUBEBUILDER_ASSETS")
	if tools == "" {
		tools = filepath.Join("..", "..", "..", "..", "bin", "tools")
	}
	path := filepath.Join(tools, "etcd-slow")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: `go run ./hack/tools etcd-slow` builds it", err)
	}
	return path
}

// await waits until all members have a leader and serve.
func (c *cluster) await(t *testing.T) error {
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	for i, m := range c.members {
		for !m.serves(ctx) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s does not serve: %w", name(i), ctx.Err())
			case <-m.ended:
				return fmt.Errorf("%s has ended", name(i))
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

// serves asks over gRPC, which each member has at this address.
func (m *member) serves(ctx context.Context) bool {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{m.client}, Logger: zap.NewNop()})
	if err != nil {
		return false
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = client.Get(ctx, "nothing")
	return err == nil
}

// signal pauses members, or lets them go on.
func (c *cluster) signal(t *testing.T, s syscall.Signal, members ...int) {
	t.Helper()
	for _, i := range members {
		if err := c.members[i].cmd.Process.Signal(s); err != nil {
			t.Errorf("sending %v to %s: %v", s, name(i), err)
		}
	}
}

// client is one of the member's own, that no proxy delays.
func (c *cluster) client(t *testing.T, member int) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{c.members[member].client}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// leader returns the member that leads, and its ID.
func (c *cluster) leader(t *testing.T) (member int, followers []int) {
	t.Helper()
	member = -1
	for i := range c.members {
		status, err := c.client(t, i).Status(t.Context(), c.members[i].client)
		if err != nil {
			t.Fatal(err)
		}
		if status.Leader == status.Header.MemberId {
			member = i
		} else {
			followers = append(followers, i)
		}
	}
	if member < 0 {
		t.Fatal("nobody leads")
	}
	return member, followers
}

// moveLeader lets another member lead.
func (c *cluster) moveLeader(t *testing.T) {
	t.Helper()
	leader, followers := c.leader(t)
	status, err := c.client(t, followers[0]).Status(t.Context(), c.members[followers[0]].client)
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := c.client(t, leader).MoveLeader(t.Context(), status.Header.MemberId); err != nil {
		t.Errorf("moving the leader: %v", err)
	}
}

func freeAddresses(t *testing.T, n int) []string {
	t.Helper()
	addresses, err := freeport.Addresses(n)
	if err != nil {
		t.Fatal(err)
	}
	return addresses
}
