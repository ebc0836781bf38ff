package process

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The process that listens is found: here, this one.
func TestTheListenerIsFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc is Linux")
	}
	for _, address := range []string{"127.0.0.1:0", "[::]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).AddrPort().Port()
		at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)
		if found, err := Listener(at); err != nil || found.PID != os.Getpid() {
			t.Errorf("%s: found %+v (%v), wanted process %d", address, found, err, os.Getpid())
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if found, err := Listener(at); err == nil {
			t.Errorf("%s: found %+v after it was closed", address, found)
		}
	}
}

// The socket of an address receives its connections, and not the one of all addresses, or one of another address.
func TestTheListenerOfAnAddress(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1 0
   1: 0100007F:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 101 1 0
   2: 0200007F:094B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 102 1 0
   3: 0300007F:094B 0100007F:9045 01 00000000:00000000 00:00000000 00000000     0        0 103 1 0
`
	root := t.TempDir()
	link := func(pid, socket string) {
		dir := filepath.Join(root, "proc", pid, "fd")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("socket:["+socket+"]", filepath.Join(dir, "7")); err != nil {
			t.Fatal(err)
		}
	}
	link("10", "100")
	link("11", "101")
	if err := os.MkdirAll(filepath.Join(root, "proc", "self", "net"), 0o700); err != nil {
		t.Fatal(err)
	}
	change(t, root, map[string]string{"proc/self/net/tcp": table})
	for address, want := range map[string]int{"127.0.0.1:2379": 11, "127.0.0.3:2379": 10, "127.0.0.2:2379": 0, "127.0.0.1:2380": 0} {
		if found, err := listener(root, netip.MustParseAddrPort(address)); found.PID != want || (err == nil) != (want > 0) {
			t.Errorf("%s: found process %d (%v), wanted %d", address, found.PID, err, want)
		}
	}
}

// The periods of a process are those of its groups, not of this process's.
func TestThePeriodsOfAnotherProcess(t *testing.T) {
	root := copyOf(t, "nested-version2", nil)
	if err := os.Mkdir(filepath.Join(root, "proc", "42"), 0o700); err != nil {
		t.Fatal(err)
	}
	change(t, root, map[string]string{"proc/42/cgroup": "0::/batch.slice\n"})
	periods, err := Other{PID: 42, root: root}.Periods()
	if got := periods[filepath.Join(root, outerGroup)]; err != nil || got != (Periods{All: 40, Throttled: 30}) {
		t.Errorf("got %+v (%v)", periods, err)
	}
	if _, inner := periods[filepath.Join(root, innerGroup)]; inner {
		t.Errorf("got the periods of a group that it does not run in: %+v", periods)
	}
}
