package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/sampler"
)

// listenAndSample measures the member in this pod until ctx ends.
func listenAndSample(ctx context.Context, o options, stderr io.Writer) int {
	store, ok := ephemeral.Of(spec.Datastore(o.datastore))
	if !ok {
		fmt.Fprintf(stderr, "loadgen: wanted a store whose members can be started, found %q\n", o.datastore)
		return exitUsage
	}
	listener, err := net.Listen("tcp", o.metricsAddress)
	if err != nil {
		fmt.Fprintln(stderr, "loadgen:", err)
		return exitFailed
	}
	return sample(ctx, store, listener)
}

func sample(ctx context.Context, store ephemeral.Store, listener net.Listener) int {
	client := net.JoinHostPort("127.0.0.1", store.Ports.Client)
	s := sampler.Sampler{
		Find:    func() process.Other { return process.Find(store.Process) },
		Network: true,
		Ready:   func(ctx context.Context) bool { return datastore.Serves(ctx, store, client) },
	}
	s.Serve(ctx, listener)
	return exitDone
}
