package faults

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// machine is the processor time that this machine has had, used or not.
type machine struct {
	at    time.Time
	ticks float64
}

// ticksPerSecond is the unit of /proc/stat (proc_stat(5)).
const ticksPerSecond = 100

func readMachine(t *testing.T) machine {
	t.Helper()
	const steal = 8
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	m := machine{at: time.Now()}
	for _, field := range strings.Fields(line)[1:steal] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatal(err)
		}
		m.ticks += ticks
	}
	return m
}

// since is the share of its processor time that the machine has had since an earlier reading. It is less than 1 if the
// host of a virtual machine paused it, or gave its processors to others.
func (m machine) since(begun machine) float64 {
	return (m.ticks - begun.ticks) / ticksPerSecond / m.at.Sub(begun.at).Seconds() / float64(runtime.NumCPU())
}

// enoughTime is the least share of its processor time with which a machine shows the effect of a fault alone.
const enoughTime = 0.9

// steadily does a run on a cluster. If the machine lacked processor time, it does another run on a new cluster.
func steadily(t *testing.T, f fault, do func(*cluster) *v1alpha1.EtcdBenchmark) (run *v1alpha1.EtcdBenchmark) {
	t.Helper()
	for range attempts {
		cluster, begun := start(t, f), readMachine(t)
		run = do(cluster)
		had := readMachine(t).since(begun)
		if had >= enoughTime {
			break
		}
		t.Logf("the machine had %.0f %% of its processor time", 100*had)
		cluster.kill()
	}
	return run
}

// kill ends the members.
func (c *cluster) kill() {
	for _, m := range c.members {
		_ = m.cmd.Process.Kill()
		<-m.ended
	}
}
