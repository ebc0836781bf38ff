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
	"github.com/etcdbench/etcd-benchmark-operator/internal/processtest"
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
	if on, err := filesOn(filepath.Join("/proc", strconv.Itoa(pid)), other); on != "" || err != nil {
		t.Errorf("found %s on another disk (%v)", on, err)
	}
	if _, err := filesOn("/proc/1/nothing", other); err != nil {
		t.Errorf("a process that has ended has no files: found %v", err)
	}
	if found := etcdsBeside("/nonexistent"); len(found) != 1 || !strings.Contains(found[0], "is not known") {
		t.Errorf("found %q beside a folder of an unknown disk", found)
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

// A process that embeds etcd, or an etcd of another name, is found by its files. Files of a run of this kind do not count.
func TestAnEtcdOfAnotherNameIsFound(t *testing.T) {
	const segment = "0000000000000000-00000000000000a1.wal"
	for path, want := range map[string]bool{
		"server/db/etcd/member/wal/" + segment: true,
		"elsewhere/" + segment:                 true,
		"member/snap/db":                       true,
		"other/db":                             false,
		"log.wal":                              false,
		ownFolder + "1/wal/" + segment:         false,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		open, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := etcdsBeside(dir); names(found, os.Getpid()) != want {
			t.Errorf("%s: found %q, wanted this process: %v", path, found, want)
		}
		_ = open.Close()
	}
}

// A run leaves space for what else is on the volume.
func TestTheReserve(t *testing.T) {
	const mb = 1_000_000
	for _, tc := range []struct{ volume, alone, beside uint64 }{
		{500 * mb, 256 * mb, 512 * mb}, {5000 * mb, 500 * mb, 1000 * mb}, {100_000 * mb, 1000 * mb, 2000 * mb},
	} {
		if alone, beside := reserve(tc.volume, false), reserve(tc.volume, true); alone != tc.alone || beside != tc.beside {
			t.Errorf("%d bytes: got %d, and %d beside etcd, wanted %d and %d", tc.volume, alone, beside, tc.alone, tc.beside)
		}
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
	ended, err := processtest.Start(etcd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = etcd.Process.Kill()
		<-ended
	})
	return etcd.Process.Pid
}
