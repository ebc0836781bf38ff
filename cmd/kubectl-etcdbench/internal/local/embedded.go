package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

// portAttempts is the number of starts. A start fails if another process takes one of the free ports first.
const portAttempts = 3

// cluster is a set of embedded members with their own folder.
type cluster struct {
	dir     string
	members []*embed.Etcd
}

// startCluster starts members on free loopback ports, with etcd's default settings, and waits until they serve.
func startCluster(ctx context.Context, members int) (*cluster, error) {
	var err error
	for range portAttempts {
		var c *cluster
		if c, err = tryCluster(ctx, members); err == nil {
			return c, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return nil, fmt.Errorf("starting %d embedded etcd members: %w", members, err)
}

func tryCluster(ctx context.Context, members int) (*cluster, error) {
	dir, err := os.MkdirTemp("", "etcdbench-members-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, members: make([]*embed.Etcd, members)}
	configs, err := memberConfigs(dir, members)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.start(ctx, configs); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// start starts all members at once, because the first does not become ready without a second one.
func (c *cluster) start(ctx context.Context, configs []*embed.Config) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, config := range configs {
		group.Go(func() error {
			member, err := embed.StartEtcd(config)
			if err != nil {
				return err
			}
			c.members[i] = member
			return ready(ctx, member)
		})
	}
	return group.Wait()
}

func ready(ctx context.Context, member *embed.Etcd) error {
	select {
	case <-member.Server.ReadyNotify():
		return nil
	case err := <-member.Err():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endpoints are the members' client addresses.
func (c *cluster) endpoints() []string {
	out := make([]string, len(c.members))
	for i, m := range c.members {
		out[i] = m.Clients[0].Addr().String()
	}
	return out
}

// close stops the members and removes their folder.
func (c *cluster) close() error {
	var group errgroup.Group
	for _, m := range c.members {
		if m != nil {
			group.Go(func() error {
				// The data is not needed. An orderly stop would first move the leader.
				m.Server.HardStop()
				m.Close()
				return nil
			})
		}
	}
	_ = group.Wait()
	return os.RemoveAll(c.dir)
}

func memberConfigs(dir string, members int) ([]*embed.Config, error) {
	addresses, err := freeport.Addresses(2 * members)
	if err != nil {
		return nil, err
	}
	configs := make([]*embed.Config, members)
	var peers []string
	for i := range configs {
		configs[i] = memberConfig(dir, fmt.Sprintf("member-%d", i), addresses[2*i], addresses[2*i+1])
		peers = append(peers, configs[i].Name+"="+configs[i].AdvertisePeerUrls[0].String())
	}
	for _, c := range configs {
		c.InitialCluster = strings.Join(peers, ",")
	}
	return configs, nil
}

func memberConfig(dir, name, client, peer string) *embed.Config {
	c := embed.NewConfig()
	c.Name = name
	c.Dir = filepath.Join(dir, name)
	c.InitialClusterToken = filepath.Base(dir)
	c.ListenClientUrls = plainURL(client)
	c.AdvertiseClientUrls = c.ListenClientUrls
	c.ListenPeerUrls = plainURL(peer)
	c.AdvertisePeerUrls = c.ListenPeerUrls
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	return c
}

func plainURL(address string) []url.URL { return []url.URL{{Scheme: "http", Host: address}} }
