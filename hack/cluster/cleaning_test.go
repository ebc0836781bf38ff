package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsBelow(t *testing.T) {
	for path, want := range map[string]bool{"/run/x": true, "/run/x/y": true, "/run/xy": false, "/run": false} {
		if got := isBelow(path, "/run/x"); got != want {
			t.Errorf("isBelow(%s, /run/x) = %v, want %v", path, got, want)
		}
	}
}

func TestOnlyDeadSocketsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	alive, err := net.Listen("unix", filepath.Join(dir, "alive"))
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "dead"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	write(t, filepath.Join(dir, "file"), "")

	removeDeadSockets(dir)
	expectEntries(t, dir, "alive", "file")
}

func TestOnlyOurEntriesLeaveSharedFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ours"), `{"sandbox":"/run/x/netns/1"}`)
	write(t, filepath.Join(dir, "theirs"), `{"sandbox":"/run/y/netns/1"}`)
	for name, target := range map[string]string{"our-link": "/var/lib/x/log", "their-link": "/var/lib/xy/log"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	removeFilesNaming(filepath.Join(dir, "*"), "/run/x/")
	removeLinksInto(dir, "/var/lib/x")
	expectEntries(t, dir, "their-link", "theirs")
}

func TestMountsBelowSeesTheFolderItself(t *testing.T) {
	points, err := mountsBelow("/proc")
	if err != nil {
		t.Fatal(err)
	}
	if len(points) == 0 {
		t.Error("the mounted /proc was not seen: folders would be deleted through a mount point")
	}
}

func expectEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
