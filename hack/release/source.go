package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// parseVersion accepts full semantic versions with v, such as v0.1.0 and v0.1.0-rc.1. It refuses build metadata (+…),
// because the tag of an image cannot have a plus sign.
func parseVersion(text string) (string, error) {
	if !semver.IsValid(text) || semver.Canonical(text) != text {
		return "", fmt.Errorf("wanted a semantic version with v and without build metadata, such as v0.1.0 or v0.2.0-rc.1, found %q: make release VERSION=v0.1.0", text)
	}
	return text, nil
}

// checkToolchain refuses a Go that is not the one of go.mod, because each version of Go builds other binaries.
func checkToolchain(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	module, err := modfile.Parse(file, content, nil)
	if err != nil {
		return err
	}
	if wanted := "go" + module.Go.Version; runtime.Version() != wanted {
		return fmt.Errorf("wanted Go %s, the version in go.mod, found %s: run make release, or set GOTOOLCHAIN=%s", wanted, runtime.Version(), wanted)
	}
	return nil
}

// checkClean refuses a checkout whose files are not those of its commit.
func checkClean(ctx context.Context, root string) error {
	changes, err := git(ctx, root, "status", "--porcelain")
	if err != nil || changes == "" {
		return err
	}
	return fmt.Errorf("wanted a checkout without changes, because a release is repeated from its commit, found:\n%s\n"+
		"Commit or remove these files. For a trial: make release VERSION=v0.1.0 RELEASE_FLAGS=-allow-dirty", changes)
}

// releaseTime is SOURCE_DATE_EPOCH, or the time of the commit.
func releaseTime(ctx context.Context, root string) (time.Time, error) {
	committed, err := git(ctx, root, "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	text := cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), committed)
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("wanted seconds since 1970 in SOURCE_DATE_EPOCH, found %q", text)
	}
	at := time.Unix(seconds, 0).UTC()
	if at.Year() < 1980 || at.Year() > 2107 {
		return time.Time{}, fmt.Errorf("wanted a time from 1980 to 2107, as zip archives store it, in SOURCE_DATE_EPOCH, found %s", at.Format(time.RFC3339))
	}
	return at, nil
}

// git returns the output of a git command without the last line break.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	output, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimRight(string(output), "\n"), err
}
