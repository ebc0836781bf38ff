package supervisor

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// runs reports whether a process runs. The command line of one that has ended, and that its parent has not waited for, is empty.
func runs(pid int) bool {
	words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(words) > 0
}

// Each member is a process of its own, and Close leaves none.
func TestMembersAreProcesses(t *testing.T) {
	dir := etcdtest.DataDir(t)
	c := begin(t, Config{Members: 3, DataDir: dir})
	pids := c.PIDs()
	for _, pid := range pids {
		if !runs(pid) || pid == os.Getpid() || pid == c.supervisor.Process.Pid {
			t.Errorf("%d is no process of a member", pid)
		}
	}
	if slices.Sort(pids); len(slices.Compact(pids)) != 3 {
		t.Errorf("got the processes %v, wanted 3", pids)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if runs(pid) {
			t.Errorf("%d is left", pid)
		}
	}
	requireEmpty(t, dir)
}

// A member that is lost is known, with how it ended. The others go on.
func TestALostMember(t *testing.T) {
	c := begin(t, Config{Members: 3})
	if err := syscall.Kill(c.PIDs()[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the loss is known", func() bool { return len(c.Ended()) == 1 })
	if e := c.Ended()[0]; e.Member != 1 || !strings.Contains(e.String(), "ended (signal: killed; its log ends with: ") {
		t.Errorf("got %s", e)
	}
	eventually(t, "another member serves", func() bool {
		answer, err := http.Get("http://" + c.Endpoints[0] + "/health")
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	})
}

// Linux ends the members of a supervisor that is killed, and Close removes what is left. A member that writes no log does
// not see that its reader is gone.
func TestTheSupervisorIsKilled(t *testing.T) {
	dir := etcdtest.DataDir(t)
	c := begin(t, Config{Members: 2, DataDir: dir, Program: script(t, "exec "+foreign()+` "$@" >/dev/null 2>&1`)})
	if err := c.supervisor.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the members ended", func() bool { return !slices.ContainsFunc(c.PIDs(), runs) })
	if err := c.Close(); err == nil {
		t.Error("the loss of the supervisor is no error")
	}
	requireEmpty(t, dir)
}

// Signals to all processes of a session or a service do not end the members before the run.
func TestASignalIsForThePlugin(t *testing.T) {
	c := begin(t, Config{Members: 1})
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if err := c.supervisor.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	group, err := syscall.Getpgid(c.supervisor.Process.Pid)
	if err != nil || group == syscall.Getpgrp() {
		t.Errorf("the supervisor is in group %d, %v, wanted one of its own", group, err)
	}
	// A supervisor that ends by a signal would not answer with the end of its members.
	if err := syscall.Kill(c.PIDs()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end is told", func() bool { return len(c.Ended()) == 1 })
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestAFileSystemInMemory(t *testing.T) {
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil || !strings.Contains(string(mounts), " /dev/shm tmpfs ") {
		t.Skip("this machine has no tmpfs at /dev/shm")
	}
	if !IsInMemory("/dev/shm") || IsInMemory("/proc") || IsInMemory("/no/such/folder") {
		t.Error("only /dev/shm is in memory")
	}
}
