package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	timedTest    = regexp.MustCompile(`(?m)^func TestTimed`)
	timedPackage = regexp.MustCompile(`(?m)^TIMED := (.+)$`)
)

// `make test` leaves out the tests named TestTimed…, and runs those of one package at the end.
func TestMakeRunsAllTimedTests(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	match := timedPackage.FindStringSubmatch(string(makefile))
	if match == nil {
		t.Fatal("Makefile does not set TIMED")
	}
	found := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		if err != nil || !timedTest.Match(code) {
			return err
		}
		found++
		if folder, err := filepath.Rel(root, filepath.Dir(path)); err != nil || folder != match[1] {
			t.Errorf("%s has a test named TestTimed…, which `make test` does not run: only %s may have such tests", path, match[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Errorf("%s has no test named TestTimed…", match[1])
	}
}
