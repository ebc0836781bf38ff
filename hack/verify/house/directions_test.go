package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

func TestNoPackageDependsAgainstTheDirections(t *testing.T) {
	for _, line := range violations(projectPackages(t), directions()) {
		t.Error(line)
	}
}

func TestEveryPackageOfTheRulesExists(t *testing.T) {
	packages := projectPackages(t)
	for _, rule := range directions() {
		for _, from := range rule.from {
			if !anyBelow(packages, from) {
				t.Errorf("no package lies below %s: remove the package from the rule", from)
			}
		}
	}
}

func TestViolations(t *testing.T) {
	rules := []direction{{from: []string{"./internal/load"}, not: []string{"k8s.io"}, notDirectly: []string{"context"}, why: "because"}}
	tests := map[string]struct {
		p    pkg
		want int
	}{
		"allowed":                       {pkg{ImportPath: module + "internal/load", Deps: []string{"time", "k8s.iox/y"}}, 0},
		"transitive":                    {pkg{ImportPath: module + "internal/load", Deps: []string{"k8s.io/api/core/v1"}}, 1},
		"direct":                        {pkg{ImportPath: module + "internal/load/arrival", Imports: []string{"context"}, Deps: []string{"context"}}, 1},
		"indirect where direct counts":  {pkg{ImportPath: module + "internal/load", Deps: []string{"context"}}, 0},
		"package of the same beginning": {pkg{ImportPath: module + "internal/loader", Deps: []string{"k8s.io/api"}}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := violations([]pkg{tc.p}, rules); len(got) != tc.want {
				t.Errorf("got %d violations, want %d: %v", len(got), tc.want, got)
			}
		})
	}
}

func anyBelow(packages []pkg, root string) bool {
	for _, p := range packages {
		if isBelowAny(p.ImportPath, []string{root}) {
			return true
		}
	}
	return false
}

// projectPackages lists the packages of the product, and of hack.
func projectPackages(t *testing.T) []pkg {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps,Dir,GoFiles", "./...", "./hack/...")
	list.Dir = root
	output, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", withStderr(err))
	}
	var packages []pkg
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func withStderr(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return errors.New(string(exit.Stderr))
	}
	return err
}
