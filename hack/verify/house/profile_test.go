package house

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

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
