package house

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOnlyListedFilesNameAKind(t *testing.T) {
	lines, err := misnamed(root, namings())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		t.Error(line)
	}
}

func TestEveryFileOfTheNamingsExists(t *testing.T) {
	for _, rule := range namings() {
		for _, file := range rule.files {
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s may be named in %s: %v", rule.kind, file, err)
			}
		}
	}
}

func TestMisnamed(t *testing.T) {
	dir := t.TempDir()
	for name, code := range map[string]string{
		"here/table.go":   "package here\n\nvar a = spec.WorkloadPut\n",
		"there/word.go":   "package there\n\nvar a = spec.WorkloadPut\n",
		"there/field.go":  "package there\n\nfunc f() { g(p.Workload.Mixed, w.Other) }\n",
		"there/good.go":   "package there\n\nvar a = spec.WorkloadType(\"\")\n",
		"there/a_test.go": "package there\n\nvar a = spec.WorkloadPut\n",
		"hack/tool.go":    "package hack\n\nvar a = spec.WorkloadPut\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(code), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := misnamed(dir, []naming{{kind: "a workload", names: isWorkload, files: []string{"here/table.go"}}})
	want := []string{"there/field.go names a workload", "there/word.go names a workload"}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("wanted %v, found %v, %v", want, lines, err)
	}
}
