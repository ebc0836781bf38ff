package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// newTestRelease returns a release of this checkout, with small files in place of the programs.
func newTestRelease(t *testing.T) release {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	r := release{
		root: root, work: work, output: filepath.Join(work, "dist"),
		version: "v9.8.7-rc.1", revision: "c0ffee", time: time.Date(2026, 3, 1, 12, 30, 10, 0, time.UTC),
		repository: "registry.example.org/team/operator", downloads: "https://example.org/files", progress: io.Discard,
	}
	for _, p := range pluginPlatforms() {
		for _, name := range programsOf(p) {
			writeFile(t, r.binaryPath(p, name), name+" for "+p.String())
		}
	}
	if err := os.MkdirAll(r.output, 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

// packed returns a release whose files are written.
func packed(t *testing.T) release {
	t.Helper()
	r := newTestRelease(t)
	if err := r.pack(t.Context(), testContents(t)); err != nil {
		t.Fatal(err)
	}
	return r
}

// testContents are those of the test itself, because the programs of a test release have none.
func testContents(t *testing.T) []binary {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 {
		t.Fatal("the test has no build information")
	}
	return []binary{{"manager", info}, {plugin, info}}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func filesOfRelease(t *testing.T, r release) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(r.output)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, entry := range entries {
		all[entry.Name()] = readFile(t, r.path(entry.Name()))
	}
	return all
}

func TestAReleaseIsRepeatable(t *testing.T) {
	first, second := filesOfRelease(t, packed(t)), filesOfRelease(t, packed(t))
	if len(first) != 18 || len(second) != len(first) {
		t.Errorf("wanted 6 archives, 3 images and 9 other files, found %d and %d files", len(first), len(second))
	}
	for name, content := range first {
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// Each archive has one time for all files. A time of the checkout would make the next one differ.
func TestArchivesHaveTheTimeOfTheRelease(t *testing.T) {
	r := packed(t)
	for name, content := range filesOfRelease(t, r) {
		times, err := timesIn(name, content)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, at := range times {
			// Archives of go-containerregistry have no time.
			if !at.Equal(r.time) && !strings.HasSuffix(name, "_docker.tar") {
				t.Errorf("wanted %s in %s, found %s", r.time, name, at)
			}
		}
	}
}

func TestArchivesDependOnlyOnTheirFiles(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 30, 10, 0, time.UTC)
	elsewhere := at.In(time.FixedZone("elsewhere", 5*3600))
	files := []file{{"a", 0o755, []byte("one")}, {"b/c", 0o644, []byte("two")}}
	reversed := slices.Clone(files)
	slices.Reverse(reversed)
	tests := map[string]struct {
		write func([]file, time.Time) ([]byte, error)
		read  func([]byte) ([]file, error)
	}{
		"tar":    {tarOf, untar},
		"tar.gz": {tarGzOf, untar},
		"zip":    {zipOf, unzip},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			first, err := tc.write(files, at)
			if err != nil {
				t.Fatal(err)
			}
			second, err := tc.write(reversed, elsewhere)
			if err != nil || !bytes.Equal(first, second) {
				t.Errorf("the archives differ: %v", err)
			}
			found, err := tc.read(first)
			if err != nil || !slices.EqualFunc(found, files, sameFile) {
				t.Errorf("wanted %v, found %v, %v", files, found, err)
			}
		})
	}
}

func sameFile(a, b file) bool {
	return a.name == b.name && a.mode.Perm() == b.mode.Perm() && bytes.Equal(a.content, b.content)
}

func TestChecksumsAreThoseOfTheFiles(t *testing.T) {
	r := packed(t)
	lines := strings.Split(strings.TrimSuffix(string(readFile(t, r.path(checksumsName))), "\n"), "\n")
	if len(lines) != 17 {
		t.Errorf("wanted the sums of 17 files, found %d", len(lines))
	}
	for _, line := range lines {
		sum, name, _ := strings.Cut(line, "  ")
		if wanted, err := sumOf(r.path(name)); err != nil || sum != wanted {
			t.Errorf("wanted %s for %s, found %s, %v", wanted, name, sum, err)
		}
	}
}

func TestAProgramOfTheReleasePrintsItsVersion(t *testing.T) {
	r := newTestRelease(t)
	tests := map[string]struct {
		script, wantErr string
	}{
		"the version": {"#!/bin/sh\necho program " + r.version, ""},
		"another one": {"#!/bin/sh\necho program devel", "program devel"},
		"a failure":   {"#!/bin/sh\necho " + r.version + "\nexit 3", "exit status 3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r.work = t.TempDir()
			err := r.runAll(t.Context(), []file{{"program", 0o755, []byte(tc.script)}}, map[string]string{"program": "--version"})
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("wanted an error with %q, found %v", tc.wantErr, err)
			}
		})
	}
}
