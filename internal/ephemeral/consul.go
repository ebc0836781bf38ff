package ephemeral

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// podAddress is a template of Consul: an address of the pod, first that of the interface with the default route, if there is one.
const podAddress = `{{ GetAllInterfaces | include "flags" "up" | include "flags" "forwardable" | exclude "flags" "loopback" | include "type" "IP" | sort "default,type,size" | limit 1 | attr "address" }}`

// startConsul takes settings as configuration keys by path, such as performance.raft_multiplier. Servers find each other by
// their names, and then use addresses.
func startConsul(self Member, all []Member, _ string, settings map[string]string) Process {
	address := self.Host
	if net.ParseIP(address) == nil {
		address = podAddress
	}
	args := []string{
		"agent", "-server", fmt.Sprintf("-bootstrap-expect=%d", len(all)), "-node=" + self.Name, "-data-dir=" + self.DataDir,
		"-bind=" + self.Listen, "-advertise=" + address, "-client=" + self.Listen,
		"-http-port=" + self.Client, "-server-port=" + self.Peer, "-serf-lan-port=" + self.Mesh,
		"-serf-wan-port=-1", "-dns-port=-1", "-grpc-port=-1",
		"-disable-host-node-id", "-disable-keyring-file", "-log-level=info", "-retry-interval=1s",
	}
	for _, m := range all {
		if m.Name != self.Name {
			args = append(args, "-retry-join="+net.JoinHostPort(m.Host, m.Mesh))
		}
	}
	args = append(args, "-hcl=disable_update_check = true")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-hcl="+fragment(name, settings[name]))
	}
	// The run reads the server's metrics.
	args = append(args, "-hcl="+fragment("telemetry.prometheus_retention_time", "24h"))
	return Process{Args: args}
}

// fragment is a piece of configuration with one value: a number, true, false or a text.
func fragment(path, value string) string {
	if !json.Valid([]byte(value)) {
		value = strconv.Quote(value)
	}
	keys := strings.Split(path, ".")
	text := keys[len(keys)-1] + " = " + value
	for i := len(keys) - 2; i >= 0; i-- {
		text = keys[i] + " { " + text + " }"
	}
	return text
}

var consulRemarks = []remark{
	{spec.LogElection, regexp.MustCompile(`starting election|entering leader state`)},
	{spec.LogSnapshot, regexp.MustCompile(`snapshot complete`)},
}
