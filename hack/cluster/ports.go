package main

import (
	"net"

	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

// ports has the ports of the daemons: of the API server and the kubelet on nodeAddress, of the others on loopback.
type ports struct {
	apiServer, kubelet                string
	etcdClient, etcdPeer, etcdMetrics string
	controllerManager, scheduler      string
	kubeletHealth                     string
	proxyHealth, proxyMetrics         string
}

// freePorts chooses ports that no program of this host listens on. A port that is free on loopback is also free on
// nodeAddress: only this cluster uses that address, and a program that listens on all addresses has the port on loopback too.
func freePorts() (ports, error) {
	var p ports
	wanted := []*string{
		&p.apiServer, &p.kubelet, &p.etcdClient, &p.etcdPeer, &p.etcdMetrics,
		&p.controllerManager, &p.scheduler, &p.kubeletHealth, &p.proxyHealth, &p.proxyMetrics,
	}
	addresses, err := freeport.Addresses(len(wanted))
	if err != nil {
		return ports{}, err
	}
	for i, address := range addresses {
		if _, *wanted[i], err = net.SplitHostPort(address); err != nil {
			return ports{}, err
		}
	}
	return p, nil
}

func loopback(port string) string { return net.JoinHostPort("127.0.0.1", port) }
