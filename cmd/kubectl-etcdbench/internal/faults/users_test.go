package faults

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

const (
	user     = "root"
	password = "of no value"
	// atOnce is how many log in at a time: each login is a hash, and takes the
	// member a tenth of a second of its processor, and the client next to nothing.
	atOnce = 2
)

// enableUsers lets the members ask who somebody is, and returns a folder with the
// files of a Secret of one who may do everything.
func (c *cluster) enableUsers(t *testing.T) (dir string) {
	t.Helper()
	client := c.client(t, 0)
	if _, err := client.UserAdd(t.Context(), user, password); err != nil {
		t.Fatal(err)
	}
	if _, err := client.UserGrantRole(t.Context(), user, "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, content := range map[string]string{plan.UsernameFile: user, plan.PasswordFile: password} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// logInOverAndOver keeps the first member busy until the test ends.
func (c *cluster) logInOverAndOver(t *testing.T) {
	t.Helper()
	var busy sync.WaitGroup
	for range atOnce {
		client := c.client(t, 0)
		busy.Go(func() {
			for t.Context().Err() == nil {
				_, _ = client.Authenticate(t.Context(), user, password)
			}
		})
	}
	t.Cleanup(busy.Wait)
}
