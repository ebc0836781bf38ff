package local

import (
	"context"
	"net"
	"runtime"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/sampler"
)

// startSamplers measures the processes of members until ctx ends. It returns an address for each member that serves what was
// measured, as the sampler in a member's pod does; none where processes cannot be measured. The members share the network of
// this machine, so that is not measured.
func startSamplers(ctx context.Context, of *supervisor.Cluster) (addresses []string) {
	pids := of.PIDs()
	if runtime.GOOS != "linux" || len(pids) != len(of.Endpoints) {
		return nil
	}
	for _, pid := range pids {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil
		}
		addresses = append(addresses, listener.Addr().String())
		s := &sampler.Sampler{Find: func() process.Other { return process.Other{PID: pid} }}
		go s.Serve(ctx, listener)
	}
	return addresses
}
