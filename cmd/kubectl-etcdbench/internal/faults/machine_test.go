package faults

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// machine is the processor time that this machine has had, used or not, and how much of it was not used.
type machine struct {
	at          time.Time
	ticks, idle float64
}

// ticksPerSecond is the unit of /proc/stat (proc_stat(5)).
const ticksPerSecond = 100

func readMachine() (machine, error) {
	const idle, waiting, steal = 3, 4, 7
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machine{}, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	m := machine{at: time.Now()}
	for i, field := range strings.Fields(line)[1 : 1+steal] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return machine{}, err
		}
		m.ticks += ticks
		if i == idle || i == waiting {
			m.idle += ticks
		}
	}
	return m, nil
}

// busy is the share of the processors that was in use since an earlier reading.
func (m machine) busy(begun machine) float64 { return 1 - (m.idle-begun.idle)/(m.ticks-begun.ticks) }

// since is the share of its processor time that the machine has had since an earlier reading. It is less than 1 if the
// host of a virtual machine paused it, or gave its processors to others.
func (m machine) since(begun machine) float64 {
	return (m.ticks - begun.ticks) / ticksPerSecond / m.at.Sub(begun.at).Seconds() / float64(runtime.NumCPU())
}

// enoughTime is the least share of its processor time with which a machine shows the effect of a fault alone.
const enoughTime = 0.9

const (
	// quietShare is the greatest share of its processors that a quiet machine uses; looksFor is how long one look takes.
	quietShare = 0.15
	looksFor   = 3 * time.Second
	// waitsForQuiet is how long the tests named TestAlone… wait for a quiet machine before they begin, and waitsAgain before they
	// repeat an attempt.
	waitsForQuiet = 5 * time.Minute
	waitsAgain    = time.Minute
)

// awaitQuiet waits for a quiet machine, at most this long. It returns the share of the processors that was in use when it gave up, or 0.
func awaitQuiet(atMost time.Duration) (used float64, err error) {
	for until := time.Now().Add(atMost); ; {
		begun, err := readMachine()
		if err != nil {
			return 0, err
		}
		<-time.After(looksFor)
		m, err := readMachine()
		if err != nil {
			return 0, err
		}
		used = m.busy(begun)
		switch {
		case used <= quietShare:
			return 0, nil
		case m.at.After(until):
			return used, nil
		}
		fmt.Fprintf(os.Stderr, "other programs use %.0f %% of the processors; waiting for a quiet machine\n", 100*used)
	}
}

// runOnQuietMachine runs the tests, and says so if they fail on a machine that does other work.
func runOnQuietMachine(m *testing.M) int {
	used, err := awaitQuiet(waitsForQuiet)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if code != 0 && used > 0 {
		fmt.Fprintf(os.Stderr, "These tests want a quiet machine. Before they began, other programs used %.0f %% of the processors for %v (wanted at most %.0f %%). End those programs and repeat: make test-alone\n",
			100*used, waitsForQuiet, 100*quietShare)
	}
	return code
}

// inChild marks the process that atLowPriority starts.
const inChild = "FAULTS_TEST_AT_LOW_PRIORITY"

func isChild() bool { return os.Getenv(inChild) != "" }

// atLowPriority runs a test in a process of its own whose threads get a processor after those of other processes. It reports
// whether this is that process; the test of the parent process ends with the child's result.
func atLowPriority(t *testing.T) bool {
	t.Helper()
	if isChild() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "nice", "-n", "19", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inChild+"=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	return false
}

// steadily does a run on a cluster. If the machine lacked processor time or was busier than mostBusy, it does another run on
// a new cluster.
func steadily(t *testing.T, f fault, mostBusy float64, do func(*cluster) *v1alpha1.EtcdBenchmark) (run *v1alpha1.EtcdBenchmark) {
	t.Helper()
	for range attempts {
		cluster := start(t, f)
		begun, err := readMachine()
		if err != nil {
			t.Fatal(err)
		}
		run = do(cluster)
		ended, err := readMachine()
		if err != nil {
			t.Fatal(err)
		}
		had, busy := ended.since(begun), ended.busy(begun)
		if had >= enoughTime && busy <= mostBusy {
			break
		}
		t.Logf("the machine had %.0f %% of its processor time (wanted at least %.0f %%), and %.0f %% of it was in use (wanted at most %.0f %%)",
			100*had, 100*enoughTime, 100*busy, 100*mostBusy)
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
