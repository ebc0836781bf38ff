package etcdtest

import (
	"os"
	"testing"
)

// DataDir returns a new folder for the data of members, which is deleted with the test. It is in memory if this machine
// has room there. On a disk, members wait for it at every change of their membership, their snapshots and their log's
// files, even without fsync.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "etcdtest-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the data of members: %v", err)
		}
	})
	return dir
}
