// Package ephemeral says how members are started that exist for one run, whether they are pods or processes.
package ephemeral

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
)

// Member is one member of a cluster of etcd.
type Member struct {
	Name string
	// Listen is the address on which it listens, Host the name or address at which others reach it.
	Listen, Host         string
	ClientPort, PeerPort string
	DataDir              string
}

// Client is the member's address for clients, as host:port.
func (m Member) Client() string { return net.JoinHostPort(m.Host, m.ClientPort) }

func (m Member) peerURL() string { return "http://" + net.JoinHostPort(m.Host, m.PeerPort) }

// Etcd returns etcd's arguments for a member of a new cluster of all. token tells the cluster from others, and settings
// are further flags by name.
func Etcd(self Member, all []Member, token string, settings map[string]string) []string {
	var peers []string
	for _, m := range all {
		peers = append(peers, m.Name+"="+m.peerURL())
	}
	args := []string{
		"--name=" + self.Name,
		"--data-dir=" + self.DataDir,
		"--listen-client-urls=http://" + net.JoinHostPort(self.Listen, self.ClientPort),
		"--advertise-client-urls=http://" + self.Client(),
		"--listen-peer-urls=http://" + net.JoinHostPort(self.Listen, self.PeerPort),
		"--initial-advertise-peer-urls=" + self.peerURL(),
		"--initial-cluster=" + strings.Join(peers, ","),
		"--initial-cluster-token=" + token,
		"--initial-cluster-state=new",
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, fmt.Sprintf("--%s=%s", name, settings[name]))
	}
	return args
}
