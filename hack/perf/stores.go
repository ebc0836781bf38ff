package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

// storesComparison shows what the client of each store costs. Each server is new, so that each key is.
func storesComparison(z size) comparison {
	l := load{transport: client, workload: writes(), connections: 100, clients: 100, requests: z.requestsOr(30_000)}
	l.workload.Put.Keys.Count = l.requests
	c := comparison{name: "stores", what: "put of new keys of 256 B, closed loop, 100 connections × 1, Client of each store"}
	for _, store := range []spec.Datastore{spec.Etcd, spec.ZooKeeper, spec.Consul} {
		name := string(store)
		c.sides = append(c.sides, side{name, func(ctx context.Context, a *testbed) (sample, error) { return a.ofStore(ctx, store, l) }})
		c.figures = append(c.figures, figure{what: "client CPU per request, µs, " + name, metric: clientCPU, of: name, bound: reported()})
	}
	return c
}

// ofStore puts a load on a new server of a store with one member, whose data lies beside that of the testbed.
func (a *testbed) ofStore(ctx context.Context, store spec.Datastore, l load) (out sample, err error) {
	how, _ := ephemeral.Of(store)
	addresses, err := freeport.Addresses(3)
	if err != nil {
		return nil, err
	}
	freeport.LeaveUDP(addresses[2])
	var ports [3]string
	for i, address := range addresses {
		_, ports[i], _ = net.SplitHostPort(address)
	}
	dir, err := os.MkdirTemp(filepath.Dir(a.server.dir), "etcdbench-perf-")
	if err != nil {
		return nil, err
	}
	host, _, _ := net.SplitHostPort(addresses[0])
	m := ephemeral.Member{
		Index: "0", Name: "perf", Listen: host, Host: host, DataDir: filepath.Join(dir, "data"), ConfigDir: dir,
		Ports: ephemeral.Ports{Client: ports[0], Peer: ports[1], Mesh: ports[2]},
	}
	s := &server{dir: dir, endpoint: m.Endpoint(), store: store}
	if err := errors.Join(os.Mkdir(m.DataDir, 0o700), s.start(ctx, how, m)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.awaitStore(ctx, how); err != nil {
		return nil, err
	}
	there := testbed{programs: a.programs, server: s}
	return there.loadgen(ctx, l)
}

// start starts the only member of a store, with the program of bin/tools.
func (s *server) start(ctx context.Context, how ephemeral.Store, m ephemeral.Member) error {
	p := how.Start(m, []ephemeral.Member{m}, "perf", map[spec.Datastore]map[string]string{
		// By default, ZooKeeper takes 60 connections from one address.
		spec.ZooKeeper: {"maxClientCnxns": "1000"},
	}[s.store])
	for file, content := range p.Files {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return err
		}
	}
	s.cmd = exec.CommandContext(ctx, filepath.Join("bin", "tools", how.Program), p.Args...)
	s.cmd.Env = append(os.Environ(), p.Env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: run `make tools-stores tools-etcd`: %w", how.Name, err)
	}
	return nil
}

// awaitStore waits until a store serves.
func (s *server) awaitStore(ctx context.Context, how ephemeral.Store) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for !datastore.Serves(ctx, how, s.endpoint) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s on %s: %w", how.Name, s.endpoint, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
