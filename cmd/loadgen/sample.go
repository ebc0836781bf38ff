package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/sampler"
)

// listenAndSample measures the member in this pod until ctx ends.
func listenAndSample(ctx context.Context, address string, stderr io.Writer) int {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(stderr, "loadgen:", err)
		return exitFailed
	}
	return sample(ctx, listener)
}

func sample(ctx context.Context, listener net.Listener) int {
	s := sampler.Sampler{Find: func() process.Other { return process.Find("etcd") }, Network: true}
	s.Serve(ctx, listener)
	return exitDone
}
