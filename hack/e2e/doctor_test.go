//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// checkDoctor looks at the members behind a Service, as a user with kubectl does: each is reached, and none is away or alone.
func checkDoctor(t *testing.T, c *etcdCluster) {
	t.Helper()
	c.counting.Lock()
	defer c.counting.Unlock()
	// Its exit status is not 0 if a busy machine makes a member slow, or if it is too young.
	out, failed := suite.command(filepath.Join(suite.root, "bin", "kubectl-etcdbench"), "doctor", "-n", c.namespace, "service/"+etcdName, "--window", "3s", "-o", "json")
	var found struct {
		Members  []struct{ Name, Problem, Version string }
		Findings []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("wanted a diagnosis, found %q (%v)", out, failed)
	}
	answered := map[string]bool{}
	for _, m := range found.Members {
		answered[m.Name] = m.Problem == "" && m.Version != ""
	}
	if len(answered) != c.members {
		t.Errorf("wanted %d members by name, found %+v", c.members, found.Members)
	}
	for name, did := range answered {
		if !did {
			t.Errorf("%s did not answer: %+v", name, found.Members)
		}
	}
	for _, f := range found.Findings {
		if f.Kind == "NoLeader" || f.Kind == "Unreachable" || f.Kind == "Refused" {
			t.Errorf("found %s of a healthy cluster: %s", f.Kind, out)
		}
	}
}
