package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestParseVersion(t *testing.T) {
	for text, ok := range map[string]bool{
		"v0.1.0": true, "v0.1.0-rc.1": true, "v12.0.3": true,
		"0.1.0": false, "v0.1": false, "v1": false, "v01.1.0": false, "v0.1.0+build": false, "v0.1.0-": false, "": false,
		"c76ffc8-dirty": false, "v0.1.0 ": false, "latest": false,
	} {
		got, err := parseVersion(text)
		if (err == nil) != ok || ok && got != text {
			t.Errorf("%q: wanted accepted: %v, found %q, %v", text, ok, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "make release VERSION=v0.1.0") {
			t.Errorf("wanted an error that says what to do, found %v", err)
		}
	}
}

// newRepository returns a git repository with one commit of a known time.
func newRepository(t *testing.T, goVersion string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_AUTHOR_DATE", "2026-03-01T12:30:10Z")
	t.Setenv("GIT_COMMITTER_DATE", "2026-03-01T12:30:10Z")
	t.Setenv("SOURCE_DATE_EPOCH", "")
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.org/m\n\ngo "+goVersion+"\n")
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "One"},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, output)
		}
	}
	return dir
}

func TestAReleaseHasTheTimeOfItsCommit(t *testing.T) {
	dir := newRepository(t, strings.TrimPrefix(runtime.Version(), "go"))
	r, err := release{}.in(t.Context(), dir, false)
	if want := time.Date(2026, 3, 1, 12, 30, 10, 0, time.UTC); err != nil || !r.time.Equal(want) {
		t.Errorf("wanted %s, found %s, %v", want, r.time, err)
	}
	for epoch, ok := range map[string]bool{"1700000000": true, "0": false, "4354819200": false, "today": false} {
		t.Setenv("SOURCE_DATE_EPOCH", epoch)
		r, err := release{}.in(t.Context(), dir, false)
		if (err == nil) != ok || ok && r.time.Unix() != 1700000000 {
			t.Errorf("SOURCE_DATE_EPOCH=%s: wanted accepted: %v, found %s, %v", epoch, ok, r.time, err)
		}
	}
}

func TestAReleaseRefusesFilesThatAreNotCommitted(t *testing.T) {
	dir := newRepository(t, strings.TrimPrefix(runtime.Version(), "go"))
	writeFile(t, filepath.Join(dir, "new.txt"), "new")
	if _, err := (release{}).in(t.Context(), dir, false); err == nil || !strings.Contains(err.Error(), "new.txt") || !strings.Contains(err.Error(), "-allow-dirty") {
		t.Errorf("wanted an error that names the file and the flag, found %v", err)
	}
	if _, err := (release{}).in(t.Context(), dir, true); err != nil {
		t.Errorf("wanted -allow-dirty to accept it, found %v", err)
	}
}

func TestAReleaseRefusesAnotherGo(t *testing.T) {
	dir := newRepository(t, "1.20.0")
	if _, err := (release{}).in(t.Context(), dir, false); err == nil || !strings.Contains(err.Error(), "GOTOOLCHAIN=go1.20.0") {
		t.Errorf("wanted an error that names the version, found %v", err)
	}
}
