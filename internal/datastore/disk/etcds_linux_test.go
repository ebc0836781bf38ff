package disk

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A running etcd is found by its open files. Tests beside this one may start others.
func TestARunningEtcdIsFound(t *testing.T) {
	dir := t.TempDir()
	pid := startEtcd(t, dir)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); !names(etcdsBeside(dir), pid); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("found %q, wanted process %d", etcdsBeside(dir), pid)
		}
	}
	other, err := diskOf("/proc")
	if err != nil {
		t.Fatal(err)
	}
	if on, known := hasFilesOn(filepath.Join("/proc", strconv.Itoa(pid)), other); on != "" || !known {
		t.Errorf("found %s on another disk (known: %v)", on, known)
	}
	if _, known := hasFilesOn("/proc/1/nothing", other); !known {
		t.Error("a process that has ended has no files: wanted that to be known")
	}
	_, err = inspect(dir, false)
	switch f := load.FailureOf(err); {
	case f == nil:
		t.Error("wanted a refusal")
	case f.Reason == results.FailureTargetUnhealthy:
		t.Skipf("the folder for temporary files cannot be measured: %v", err)
	case f.Reason != results.FailureControlPlaneTarget || !strings.Contains(f.Message, "process "+strconv.Itoa(pid)+" has "+dir):
		t.Errorf("got %v, wanted one that names the process and its file", err)
	}
	if found, err := inspect(dir, true); err != nil || found.Device == "" || found.FileSystem == "" || found.Options == "" {
		t.Errorf("got %+v (%v) although the user acknowledges it", found, err)
	}
}

func names(found []string, pid int) bool {
	for _, f := range found {
		if strings.HasPrefix(f, "process "+strconv.Itoa(pid)+" has ") {
			return true
		}
	}
	return false
}

func startEtcd(t *testing.T, dir string) int {
	t.Helper()
	tools := cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join("..", "..", "..", "bin", "tools"))
	ports, err := freeport.Addresses(2)
	if err != nil {
		t.Fatal(err)
	}
	client, peer := "http://"+ports[0], "http://"+ports[1]
	etcd := exec.CommandContext(t.Context(), filepath.Join(tools, "etcd"), "--data-dir", filepath.Join(dir, "data"), "--log-level=error",
		"--listen-client-urls="+client, "--advertise-client-urls="+client, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	if err := etcd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = etcd.Process.Kill()
		_ = etcd.Wait()
	})
	return etcd.Process.Pid
}
