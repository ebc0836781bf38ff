package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// aptGet and dpkgDeb replace Debian's programs: a package is a file, which contains one program.
const (
	aptGet  = "#!/bin/sh\n[ \"$3\" = good ] || { echo \"E: no package $3\"; exit 100; }\necho program >good_1_all.deb\n"
	dpkgDeb = "#!/bin/sh\nmkdir -p usr/bin && cp \"$2\" usr/bin/program\n"
)

func TestFetchExtractsAProgramOnce(t *testing.T) {
	b, progress := newTestBuilder(t)
	fakeDebian(t)
	good := []tool{{name: "good", debian: []string{"good"}, file: "usr/bin/program"}}
	for i, want := range []int{1, 0} {
		progress.Reset()
		if err := b.build(t.Context(), good); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(progress.String(), "fetching good"); got != want {
			t.Errorf("call %d fetched %d times, want %d", i, got, want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(b.output, "good")); err != nil || string(got) != "program\n" {
		t.Errorf("the program is %q, %v", got, err)
	}
	wantNothingLeft(t, b)
}

func TestFetchReportsTheErrorOfApt(t *testing.T) {
	b, _ := newTestBuilder(t)
	fakeDebian(t)
	err := b.build(t.Context(), []tool{{name: "bad", debian: []string{"bad"}, file: "usr/bin/program"}})
	if err == nil || !strings.Contains(err.Error(), "no package bad") || !strings.Contains(err.Error(), "apt-get update") {
		t.Errorf("error = %v, want what apt-get says, and what to do", err)
	}
	wantNothingLeft(t, b)
}

func fakeDebian(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{"apt-get": aptGet, "dpkg-deb": dpkgDeb} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func wantNothingLeft(t *testing.T, b builder) {
	t.Helper()
	if left, err := filepath.Glob(filepath.Join(b.output, ".debian-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
