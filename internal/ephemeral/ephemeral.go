// Package ephemeral builds the command lines of etcd members that exist only for a run: as pods, and as processes on
// loopback. It is pure.
package ephemeral

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Member is one etcd member: its name, and the host and ports of its addresses.
type Member struct {
	Name string
	// Listen is the address that the member listens on, Host the one at which clients and the other members find it.
	Listen, Host         string
	ClientPort, PeerPort int
	DataDir              string
}

// Etcd returns the arguments of etcd for member i of a cluster. settings are further flags by name.
func Etcd(members []Member, i int, token string, settings map[string]string) []string {
	m := members[i]
	peers := make([]string, len(members))
	for i, other := range members {
		peers[i] = other.Name + "=" + url(other.Host, other.PeerPort)
	}
	args := []string{
		"--name=" + m.Name,
		"--data-dir=" + m.DataDir,
		"--listen-client-urls=" + url(m.Listen, m.ClientPort),
		"--advertise-client-urls=" + url(m.Host, m.ClientPort),
		"--listen-peer-urls=" + url(m.Listen, m.PeerPort),
		"--initial-advertise-peer-urls=" + url(m.Host, m.PeerPort),
		"--initial-cluster=" + strings.Join(peers, ","),
		"--initial-cluster-token=" + token,
		"--initial-cluster-state=new",
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, fmt.Sprintf("--%s=%s", name, settings[name]))
	}
	return args
}

func url(host string, port int) string { return "http://" + net.JoinHostPort(host, strconv.Itoa(port)) }
