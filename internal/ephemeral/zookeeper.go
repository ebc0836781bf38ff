package ephemeral

import (
	"fmt"
	"maps"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

const (
	// JVMFlags is the setting with the flags of Java, and JVMFlagsVariable the variable in which zkServer.sh expects them.
	JVMFlags         = "jvmFlags"
	JVMFlagsVariable = "SERVER_JVMFLAGS"
)

// startZooKeeper takes settings as properties of zoo.cfg. Of two lines with the same property, the last one counts: settings
// replace the first three, and the last lines replace settings. One server is not an ensemble.
func startZooKeeper(self Member, all []Member, _ string, settings map[string]string) Process {
	lines := []string{"tickTime=2000", "initLimit=10", "syncLimit=5"}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if name != JVMFlags {
			lines = append(lines, name+"="+settings[name])
		}
	}
	lines = append(lines,
		"dataDir="+self.DataDir, "clientPort="+self.Client, "clientPortAddress="+self.Listen,
		"admin.enableServer=false", "4lw.commands.whitelist=srvr,conf,mntr")
	if len(all) > 1 {
		for _, m := range all {
			lines = append(lines, fmt.Sprintf("server.%s=%s:%s", m.Index, net.JoinHostPort(m.Host, m.Peer), m.Mesh))
		}
		// In a pod, its own name may not have an address yet.
		lines = append(lines, fmt.Sprintf("quorumListenOnAllIPs=%t", net.ParseIP(self.Host) == nil))
	}
	config := path.Join(self.ConfigDir, "zoo.cfg")
	p := Process{Args: []string{"start-foreground", config}, Files: map[string]string{
		config: strings.Join(lines, "\n") + "\n", path.Join(self.DataDir, "myid"): self.Index,
	}}
	if flags := settings[JVMFlags]; flags != "" {
		p.Env = []string{JVMFlagsVariable + "=" + flags}
	}
	return p
}

var zooKeeperRemarks = []remark{
	{spec.LogSlowFlush, regexp.MustCompile(`fsync-ing the write ahead log in .* took`)},
	{spec.LogElection, regexp.MustCompile(`\b(LOOKING|LEADING|FOLLOWING)\b`)},
	{spec.LogSnapshot, regexp.MustCompile(`Snapshotting:`)},
}
