package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

const startTimeout = time.Minute

// Cluster is a running etcd cluster.
type Cluster struct {
	Members []*embed.Etcd
	// Endpoints are host:port of the members' client addresses.
	Endpoints []string
	authority *Authority
}

// Fsync makes a member flush its log to disk. By default members do not, so that tests are fast.
func Fsync(c *embed.Config) { c.UnsafeNoFsync = false }

// Quota bounds the size of a member's database, in bytes.
func Quota(bytes int64) func(*embed.Config) {
	return func(c *embed.Config) { c.QuotaBackendBytes = bytes }
}

// Start starts this many members, each with these changes of its settings. With an authority they serve TLS and require
// client certificates of it; nil is plain text.
func Start(t testing.TB, members int, authority *Authority, changes ...func(*embed.Config)) *Cluster {
	t.Helper()
	c := &Cluster{authority: authority}
	all := configs(t, DataDir(t), members, authority)
	for _, member := range all {
		for _, change := range changes {
			change(member)
		}
	}
	t.Cleanup(c.close)
	if err := c.start(all); err != nil {
		t.Fatalf("starting %d etcd members: %v", members, err)
	}
	return c
}

func (c *Cluster) start(configs []*embed.Config) error {
	first := len(c.Members)
	c.Members = append(c.Members, make([]*embed.Etcd, len(configs))...)
	errs := make([]error, len(configs))
	var starting sync.WaitGroup
	for i, config := range configs {
		c.Endpoints = append(c.Endpoints, config.ListenClientUrls[0].Host)
		// All at once: a member is ready only when the cluster has a leader.
		starting.Go(func() {
			m, err := embed.StartEtcd(config)
			if err == nil {
				err = awaitReady(m)
			}
			c.Members[first+i], errs[i] = m, err
		})
	}
	starting.Wait()
	return errors.Join(errs...)
}

func awaitReady(m *embed.Etcd) error {
	select {
	case <-m.Server.ReadyNotify():
		return nil
	case err := <-m.Err():
		return err
	case <-time.After(startTimeout):
		return fmt.Errorf("a member was not ready after %v", startTimeout)
	}
}

func (c *Cluster) close() {
	var closing sync.WaitGroup
	for _, m := range c.Members {
		if m != nil {
			closing.Go(m.Close)
		}
	}
	closing.Wait()
}

// Stop stops one member now. Its client address refuses connections until the end of the test process: freeport gives
// it to no other caller.
func (c *Cluster) Stop(i int) {
	c.Members[i].Close()
	c.Members[i] = nil
}

// AddLearner starts a learner, whose address becomes the last one.
func (c *Cluster) AddLearner(t testing.TB) {
	t.Helper()
	var peers []string
	for _, m := range c.Members {
		config := m.Config()
		peers = append(peers, config.Name+"="+config.AdvertisePeerUrls[0].String())
	}
	addresses, err := freeport.Addresses(2)
	if err != nil {
		t.Fatal(err)
	}
	own := config(DataDir(t), len(c.Members), addresses[0], addresses[1])
	own.InitialCluster = strings.Join(append(peers, own.Name+"="+own.AdvertisePeerUrls[0].String()), ",")
	own.ClusterState = embed.ClusterStateFlagExisting
	if _, err := c.Client(t, "", "").MemberAddAsLearner(t.Context(), []string{own.AdvertisePeerUrls[0].String()}); err != nil {
		t.Fatal(err)
	}
	if err := c.start([]*embed.Config{own}); err != nil {
		t.Fatalf("starting a learner: %v", err)
	}
}

// Client returns a client of all members, with a user if user is not empty.
func (c *Cluster) Client(t testing.TB, user, password string) *clientv3.Client {
	t.Helper()
	config := clientv3.Config{DialTimeout: 10 * time.Second, Logger: zap.NewNop(), Username: user, Password: password}
	scheme := "http://"
	if c.authority != nil {
		scheme, config.TLS = "https://", c.authority.ClientTLS(t)
		if name := config.TLS.ServerName; name != "" {
			config.DialOptions = append(config.DialOptions, grpc.WithAuthority(name))
		}
	}
	for _, e := range c.Endpoints {
		config.Endpoints = append(config.Endpoints, scheme+e)
	}
	client, err := clientv3.New(config)
	if err != nil {
		t.Fatalf("connecting to the test's etcd: %v", err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Leader returns the index of the leader.
func (c *Cluster) Leader(t testing.TB) int {
	t.Helper()
	for i, m := range c.Members {
		if m != nil && m.Server.Leader() == m.Server.MemberID() {
			return i
		}
	}
	t.Fatal("no member of the test's etcd leads")
	return 0
}

// MoveLeader makes another member the leader, and returns when it is.
func (c *Cluster) MoveLeader(t testing.TB, to int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	from := c.Members[c.Leader(t)].Server
	if err := from.MoveLeader(ctx, uint64(from.Leader()), uint64(c.Members[to].Server.MemberID())); err != nil {
		t.Fatalf("moving the leader: %v", err)
	}
}

func configs(t testing.TB, dir string, members int, authority *Authority) []*embed.Config {
	t.Helper()
	out := make([]*embed.Config, members)
	var peers []string
	addresses, err := freeport.Addresses(2 * members)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out {
		out[i] = config(dir, i, addresses[2*i], addresses[2*i+1])
		peers = append(peers, out[i].Name+"="+out[i].AdvertisePeerUrls[0].String())
		if authority != nil {
			secure(out[i], authority.ServerFiles(t))
		}
	}
	for _, c := range out {
		c.InitialCluster = strings.Join(peers, ",")
	}
	return out
}

func config(dir string, i int, client, peer string) *embed.Config {
	c := embed.NewConfig()
	c.Name = fmt.Sprintf("member-%d", i)
	c.Dir = filepath.Join(dir, c.Name)
	c.ListenClientUrls = plainURL(client)
	c.AdvertiseClientUrls = c.ListenClientUrls
	c.ListenPeerUrls = plainURL(peer)
	c.AdvertisePeerUrls = c.ListenPeerUrls
	c.UnsafeNoFsync = true
	// The cheapest hash, because tests log in often.
	c.BcryptCost = 4
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	return c
}

func secure(c *embed.Config, info transport.TLSInfo) {
	c.ClientTLSInfo = info
	for _, u := range []*url.URL{&c.ListenClientUrls[0], &c.AdvertiseClientUrls[0]} {
		u.Scheme = "https"
	}
}

func plainURL(address string) []url.URL { return []url.URL{{Scheme: "http", Host: address}} }

// DataDir returns a new folder for the data of members, which is deleted with the test. It is in memory if this machine
// has room there. On a disk, members wait for it at every change of their membership, their snapshots and their log's
// files, even without fsync.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "etcdtest-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the data of members: %v", err)
		}
	})
	return dir
}
