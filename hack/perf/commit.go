package main

import (
	"context"
	"os/exec"
	"strings"
)

// describeCommit returns which code is in a checkout: the short hash of its commit,
// with a plus behind it if a file has changed since. Documents do not count: the
// tables are written into one. It is empty where there is no commit, as in an
// unpacked release.
func describeCommit(ctx context.Context, dir string) string {
	head, err := git(ctx, dir, "rev-parse", "--short", "HEAD")
	if err != nil {
		return ""
	}
	if changed, err := git(ctx, dir, "status", "--porcelain", "--", ".", ":!docs"); err != nil || changed != "" {
		return head + "+"
	}
	return head
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}
