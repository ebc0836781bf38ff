package ephemeral

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func (m Member) peerURL() string { return "http://" + net.JoinHostPort(m.Host, m.Peer) }

// startEtcd takes settings as flags by name.
func startEtcd(self Member, all []Member, token string, settings map[string]string) Process {
	var peers []string
	for _, m := range all {
		peers = append(peers, m.Name+"="+m.peerURL())
	}
	args := []string{
		"--name=" + self.Name,
		"--data-dir=" + self.DataDir,
		"--listen-client-urls=http://" + net.JoinHostPort(self.Listen, self.Client),
		"--advertise-client-urls=http://" + self.Endpoint(),
		"--listen-peer-urls=http://" + net.JoinHostPort(self.Listen, self.Peer),
		"--initial-advertise-peer-urls=" + self.peerURL(),
		"--initial-cluster=" + strings.Join(peers, ","),
		"--initial-cluster-token=" + token,
		"--initial-cluster-state=new",
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, fmt.Sprintf("--%s=%s", name, settings[name]))
	}
	return Process{Args: args}
}

var etcdRemarks = []remark{
	{spec.LogSlowFlush, regexp.MustCompile(`slow fdatasync`)},
	{spec.LogSlowApply, regexp.MustCompile(`apply request took too long`)},
	{spec.LogElection, regexp.MustCompile(`elected leader|lost leader|is starting a new election`)},
	{spec.LogSnapshot, regexp.MustCompile(`saved (database )?snapshot`)},
}
