package main

import (
	"slices"
	"testing"
)

// The kubelet and kube-apiserver connect to each other by these addresses.
func TestCertificatesCoverTheServersAddresses(t *testing.T) {
	for holder, address := range map[string]string{"apiserver": nodeAddress, "kubelet": nodeAddress, "etcd": "127.0.0.1"} {
		if hosts := holders()[holder].Hosts; !slices.Contains(hosts, address) {
			t.Errorf("%s: wanted %s among its hosts, found %q", holder, address, hosts)
		}
	}
	for _, client := range []string{"admin", "controller-manager", "scheduler", "proxy", "node", "apiserver-client"} {
		if h, found := holders()[client]; !found || len(h.Hosts) > 0 {
			t.Errorf("%s: wanted a certificate of a client, found %+v", client, h)
		}
	}
}
