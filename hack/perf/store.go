package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// record has the measurements of one comparison.
type record struct {
	// Machine describes the machine and the time.
	Machine string `json:"machine"`
	// Commit is the measured commit; empty if unknown.
	Commit string  `json:"commit,omitempty"`
	Rounds []round `json:"rounds"`
}

// records are kept in a file, by the comparison's name, so that a single comparison can be repeated.
type records map[string]record

func readRecords(path string) (records, error) {
	all := records{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

func (r records) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// describeCommit returns the short hash of a checkout's commit, with a plus if a file has changed since. Changes of
// documents do not count, because the tables are written into one. It is empty without a commit, as in an unpacked
// release.
func describeCommit(ctx context.Context, dir string) string {
	head, err := git(ctx, dir, "rev-parse", "--short", "HEAD")
	if err != nil {
		return ""
	}
	if changed, err := git(ctx, dir, "status", "--porcelain", "--", ".", ":!docs", ":!hack/perf/results.md"); err != nil || changed != "" {
		return head + "+"
	}
	return head
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}
