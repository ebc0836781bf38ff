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

// A tool whose dependencies are wanted gets all packages that apt-get would install beside those it leaves out.
func TestFetchTakesDependencies(t *testing.T) {
	b, _ := newTestBuilder(t)
	fakePrograms(t, map[string]string{"apt-get": `#!/bin/sh
case "$*" in
*--simulate*)
  for a; do case "$a" in Dir::State::status=*) status="${a#*=}" ;; esac; done
  grep -q '^Package: host$' "$status" && grep -q '^Architecture: any64$' "$status" || { echo 'E: good depends on host'; exit 100; }
  printf 'Inst library (1 Debian [any64])\nInst good (1 Debian [any64])\nConf good (1 Debian [any64])\n' ;;
*) shift 2; for package; do echo "$package" >"${package}_1_all.deb"; done ;;
esac
`, "dpkg": "#!/bin/sh\necho any64\n", "dpkg-deb": "#!/bin/sh\nmkdir -p lib && cp \"$2\" lib/\n"})
	tools := []tool{{name: "good", debian: []string{"good"}, without: []string{"host"}}}
	if err := b.build(t.Context(), tools); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(b.output, "good", "lib", "*"))
	if err != nil || len(found) != 2 {
		t.Errorf("found %q, %v, wanted the files of good and of library", found, err)
	}
	tools[0].without = []string{"another"}
	if err := b.build(t.Context(), tools); err == nil || !strings.Contains(err.Error(), "depends on host") {
		t.Errorf("the error is %v, wanted what apt-get says", err)
	}
	wantNothingLeft(t, b)
}

func fakeDebian(t *testing.T) {
	t.Helper()
	fakePrograms(t, map[string]string{"apt-get": aptGet, "dpkg-deb": dpkgDeb})
}

// fakePrograms puts scripts before the programs of the host.
func fakePrograms(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
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
