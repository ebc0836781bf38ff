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

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
	"github.com/etcdbench/etcd-benchmark-operator/internal/processtest"
)

const (
	// startLimit is the time for the members to elect a leader.
	startLimit = 60 * time.Second
	// startAttempts is the number of starts. A start fails if another process takes one of the free ports first.
	startAttempts = 3
	// neighboursKeys is the number of keys that neighbours count: that takes milliseconds of processor time, and the
	// answer is short. They are written in transactions of keysAtOnce.
	neighboursKeys = 20_000
	keysAtOnce     = 100
	// flushesPerCommit: the database's pages, then its meta page.
	flushesPerCommit = 2
)

// fault is what makes a cluster slow.
type fault struct {
	// members is the number of members; 0 means 1.
	members int
	// flush and commit are the times of a flush of the log and of a commit of the database. Only the leader, or only one
	// follower, has them if slow says so.
	flush, commit time.Duration
	slow          role
	// apply is added to the time of each apply. Applies are sequential, and this time uses no processor.
	apply time.Duration
	// peers and clients are the network delays in each direction, between members and to clients.
	peers, clients time.Duration
	// neighbours are clients that count all keys again and again. Each member then has one processor, which they share
	// with the run.
	neighbours int
	// revisions are written before the run.
	revisions int
	// arguments are added to those of each member.
	arguments []string
	// silent members do not serve their metrics at the client address.
	silent bool
}

// role is what a member is to the others.
type role int

const (
	anyMember role = iota
	theLeader
	aFollower
)

// cluster is a set of running members.
type cluster struct {
	fault   fault
	members []*member
	// endpoints are the addresses for clients.
	endpoints []string
	// proxies carry the clients' connections, if the fault delays clients.
	proxies []*proxy
}

// member is a process of etcd-slow.
type member struct {
	cmd *exec.Cmd
	// client and peer are the addresses at which it listens, advertised is its peer address for other members.
	client, peer, advertised string
	log                      bytes.Buffer
	// ended is closed once the process has ended.
	ended <-chan struct{}
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
			c.assignRoles(t)
			c.writeRevisions(t)
			c.startNeighbours(t)
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

// open sets the addresses for clients.
func (c *cluster) open(t *testing.T) {
	for _, m := range c.members {
		if c.fault.clients == 0 {
			c.endpoints = append(c.endpoints, m.client)
			continue
		}
		p := startProxy(t, m.client, c.fault.clients)
		c.proxies, c.endpoints = append(c.proxies, p), append(c.endpoints, p.address())
	}
}

// assignRoles makes the first member, which alone is slow, the leader or a follower.
func (c *cluster) assignRoles(t *testing.T) {
	t.Helper()
	if c.fault.slow == anyMember {
		return
	}
	leader, _ := c.leader(t)
	switch {
	case c.fault.slow == theLeader && leader != 0:
		c.moveLeader(t, 0)
	case c.fault.slow == aFollower && leader == 0:
		c.moveLeader(t, 1)
	}
}

// writeRevisions overwrites the same keys again and again.
func (c *cluster) writeRevisions(t *testing.T) {
	t.Helper()
	client := c.client(t, 0)
	for range c.fault.revisions / keysAtOnce {
		puts := make([]clientv3.Op, keysAtOnce)
		for i := range puts {
			puts[i] = clientv3.OpPut(fmt.Sprintf("history/%d", i), "")
		}
		if _, err := client.Txn(t.Context()).Then(puts...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// startNeighbours starts the cluster's neighbours, which run until the test ends.
func (c *cluster) startNeighbours(t *testing.T) {
	t.Helper()
	if c.fault.neighbours == 0 {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
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
		running.Go(func() {
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
		"--name=" + name(i), "--data-dir=" + filepath.Join(etcdtest.DataDir(t), "data"), "--log-level=error",
		"--listen-client-urls=http://" + m.client, "--advertise-client-urls=http://" + m.client,
		"--listen-peer-urls=http://" + m.peer, "--initial-advertise-peer-urls=http://" + m.advertised, "--initial-cluster=" + peers,
		// Only tests of elections and of slow applies should have them.
		"--heartbeat-interval=200", "--election-timeout=2000", "--warning-apply-duration=2s",
	}
	words = append(words, f.arguments...)
	if f.silent {
		words = append(words, "--listen-client-http-urls=http://"+freeAddresses(t, 1)[0])
	}
	m.cmd = exec.Command(words[0], words[1:]...)
	if f.slow != anyMember && i > 0 {
		f.flush, f.commit = 0, 0
	}
	m.cmd.Env = append(os.Environ(), "SLOW_LOG_FLUSH="+f.flush.String(), "SLOW_DATABASE_FLUSH="+(f.commit/flushesPerCommit).String(), "SLOW_APPLY="+f.apply.String())
	if f.neighbours > 0 {
		m.cmd.Env = append(m.cmd.Env, "GOMAXPROCS=1")
	}
	m.cmd.Stdout, m.cmd.Stderr = &m.log, &m.log
	var err error
	if m.ended, err = processtest.Start(m.cmd); err != nil {
		return err
	}
	t.Cleanup(func() {
		_ = m.cmd.Process.Kill()
		<-m.ended
		if t.Failed() {
			t.Logf("log of %s: %s", name(i), m.log.Bytes())
		}
	})
	return nil
}

// program is the path of etcd-slow.
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

// serves reports whether the member answers a read over gRPC.
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

// signal pauses or continues members.
func (c *cluster) signal(t *testing.T, s syscall.Signal, members ...int) {
	t.Helper()
	for _, i := range members {
		if err := c.members[i].cmd.Process.Signal(s); err != nil {
			t.Errorf("sending %v to %s: %v", s, name(i), err)
		}
	}
}

// client connects to a member without a proxy.
func (c *cluster) client(t *testing.T, member int) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{c.members[member].client}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// leader returns the leader and the followers.
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
		t.Fatal("found no leader")
	}
	return member, followers
}

// moveLeader moves the leadership to a member that is a follower.
func (c *cluster) moveLeader(t *testing.T, to int) {
	t.Helper()
	leader, _ := c.leader(t)
	status, err := c.client(t, to).Status(t.Context(), c.members[to].client)
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
