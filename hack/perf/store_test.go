package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDescribeCommit(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := git(t.Context(), dir, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return out
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "--quiet")
	if got := describeCommit(t.Context(), dir); got != "" {
		t.Errorf("got %q where there is no commit", got)
	}
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("a.go")
	run("add", "--all")
	run("commit", "--quiet", "--message=a")
	head := run("rev-parse", "HEAD")
	write(filepath.Join("docs", "table.md"))
	clean := describeCommit(t.Context(), dir)
	if len(clean) < 4 || !strings.HasPrefix(head, clean) {
		t.Errorf("got %q, wanted what %s begins with", clean, head)
	}
	write("b.go")
	if got := describeCommit(t.Context(), dir); got != clean+"+" {
		t.Errorf("got %q after a change, wanted %s+", got, clean)
	}
}
