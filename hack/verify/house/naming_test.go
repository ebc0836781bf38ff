package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// pastProfile matches a read of the fields of a spec that a profile may replace.
var pastProfile = regexp.MustCompile(`\.Spec\.(Workload|Load|Objectives)\b`)

// A run with spec.profile has no workload, load or objectives in its spec, so a direct read finds nothing.
func TestSpecIsReadThroughItsProfile(t *testing.T) {
	for _, path := range paths(projectPackages(t)) {
		if strings.Contains(path, "api/v1alpha1/") || strings.Contains(path, "internal/runtest/") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if found := pastProfile.Find(text); found != nil {
			t.Errorf("%s reads %s: use Resolved() of the EtcdBenchmark, which knows spec.profile", path, found)
		}
	}
}
