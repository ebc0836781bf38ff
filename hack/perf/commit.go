package main

import (
	"context"
	"os/exec"
	"strings"
)

// describeCommit returns the short hash of a checkout's commit, with a plus if a file has changed since. Changes of
// documents do not count, because the tables are written into one. It is empty without a commit, as in an unpacked
// release.
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
