//go:build guard

package guard

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	faultsOf = flag.String("faults", "", "`file` of faults to make one after the other, in a copy of the tree")
	caught   = flag.String("caught", "", "`file` that gets, for each fault, the tests that caught it")
)

// fault is a mistake that somebody could make, and where a test must see it.
type fault struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Package string `json:"package"`
	Run     string `json:"run"`
}

var failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// TestFaults makes each fault in a copy of the tree and wants a test to fail.
func TestFaults(t *testing.T) {
	if *faultsOf == "" {
		t.Skip("no -faults")
	}
	data, err := os.ReadFile(*faultsOf)
	if err != nil {
		t.Fatal(err)
	}
	var faults []fault
	if err := json.Unmarshal(data, &faults); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "tree")
	if out, err := exec.Command("git", "clone", "-q", repository, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seen := map[string][]string{}
	for _, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			seen[f.Name] = make1(t, copied, f)
			if len(seen[f.Name]) == 0 {
				t.Error("no test has seen it")
			}
			if *caught != "" {
				if err := os.WriteFile(*caught, indented(t, seen), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// make1 makes one fault, returns the tests that failed, and takes it back.
func make1(t *testing.T, tree string, f fault) []string {
	t.Helper()
	path := filepath.Join(tree, f.File)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(before), f.Old); n != 1 {
		t.Fatalf("wanted %s once in %s, found it %d times", f.Old, f.File, n)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(before), f.Old, f.New, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.WriteFile(path, before, 0o644) }()
	args := []string{"test", "-count=1", "-vet=off", "-timeout=240s"}
	if f.Run != "" {
		args = append(args, "-run", f.Run)
	}
	test := exec.Command("go", append(args, "./"+f.Package)...)
	test.Dir = tree
	out, err := test.CombinedOutput()
	if err == nil {
		return nil
	}
	var names []string
	for _, m := range failedTest.FindAllStringSubmatch(string(out), -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		if strings.Contains(string(out), "panic: test timed out") {
			return []string{"(the package hangs)"}
		}
		t.Fatalf("it does not build, or no test says why: %.2000s", out)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
