package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package of npm is used only if it is the pinned one.
func TestFetchNPM(t *testing.T) {
	archive := newPackage(t, "package/script.js", "content")
	sum := sha512.Sum512(archive)
	pinned := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	for name, tc := range map[string]struct {
		tool      tool
		wantError string
	}{
		"the pinned package": {tool: tool{name: "script", npm: "script@1.2.3", file: "script.js", integrity: pinned}},
		"another package":    {tool: tool{name: "script", npm: "script@1.2.3", file: "script.js", integrity: "sha512-AAAA"}, wantError: pinned},
		"a missing file":     {tool: tool{name: "script", npm: "script@1.2.3", file: "other.js", integrity: pinned}, wantError: "other.js"},
		"a missing package":  {tool: tool{name: "script", npm: "other@1.2.3", file: "script.js", integrity: pinned}, wantError: "no such package"},
	} {
		t.Run(name, func(t *testing.T) {
			b, progress := newTestBuilder(t)
			file := filepath.Join(t.TempDir(), "archive")
			if err := os.WriteFile(file, archive, 0o644); err != nil {
				t.Fatal(err)
			}
			fakePrograms(t, map[string]string{
				"npm": "#!/bin/sh\n[ \"$1 $4\" = 'pack script@1.2.3' ] || { echo no such package; exit 1; }\ncp '" + file + "' script-1.2.3.tgz\n",
			})
			err := b.build(t.Context(), []tool{tc.tool})
			if left, _ := filepath.Glob(filepath.Join(b.output, ".npm-*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			if tc.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Fatalf("the error is %v, wanted %q in it", err, tc.wantError)
				}
				return
			}
			if got, readErr := os.ReadFile(filepath.Join(b.output, "script")); err != nil || string(got) != "content" {
				t.Fatalf("the script is %q, %v, %v", got, err, readErr)
			}
			if err := b.build(t.Context(), []tool{tc.tool}); err != nil || strings.Count(progress.String(), "fetching") != 1 {
				t.Errorf("a second call: %v, and in all %q, wanted one download", err, progress)
			}
		})
	}
}

// newPackage is a package with one file.
func newPackage(t *testing.T, name, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	files := tar.NewWriter(compressed)
	err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
