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
	aloneTest    = regexp.MustCompile(`(?m)^func TestAlone`)
	alonePackage = regexp.MustCompile(`(?m)^ALONE := (.+)$`)
)

// `make test` leaves out the tests named TestAlone…, and runs those of one package at the end.
func TestMakeRunsAllTestsThatRunAlone(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	match := alonePackage.FindStringSubmatch(string(makefile))
	if match == nil {
		t.Fatal("Makefile does not set ALONE")
	}
	for _, part := range []string{"-skip '^TestAlone' ./...", "-run '^TestAlone' ./$(ALONE)"} {
		if !strings.Contains(string(makefile), part) {
			t.Errorf("Makefile does not run go test with %s", part)
		}
	}
	found := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		if err != nil || !aloneTest.Match(code) {
			return err
		}
		found++
		if folder, err := filepath.Rel(root, filepath.Dir(path)); err != nil || folder != match[1] {
			t.Errorf("%s has a test named TestAlone…, which `make test` does not run: only %s may have such tests", path, match[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Errorf("%s has no test named TestAlone…", match[1])
	}
}
