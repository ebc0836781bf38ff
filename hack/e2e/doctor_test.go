//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// unlikely are findings that a busy machine does not make.
var unlikely = []string{"NoLeader", "Unreachable", "Refused"}

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
		if slices.Contains(unlikely, f.Kind) {
			t.Errorf("found %s of a healthy cluster: %s", f.Kind, out)
		}
	}
}

// checkObserving runs the sample, which looks at the same members as an object. The caller compares the store.
func checkObserving(t *testing.T, c *etcdCluster) {
	t.Helper()
	c.counting.Lock()
	defer c.counting.Unlock()
	sample := filepath.Join(suite.root, "config", "samples", "etcdbenchmark_observe.yaml")
	name := strings.TrimSpace(mustKubectl(t, "create", "-n", c.namespace, "-f", sample, "-o", "jsonpath={.metadata.name}"))
	mustKubectl(t, "wait", "-n", c.namespace, "--for=condition=Finished", "etcdbenchmark/"+name, "--timeout=2m")
	b := awaitEnd(t, named(c.namespace, name))
	requireCompleted(t, b)
	if s := b.Status.Summary; len(s.Operations) != 1 || s.Operations[0].Operation != spec.OperationStatus || s.Operations[0].Failed > 0 || s.Operations[0].Succeeded < 20 {
		t.Errorf("wanted a request Status for each of 30 s, found %+v", s.Operations)
	}
	if len(b.Status.Objectives) < len(unlikely) {
		t.Errorf("wanted an objective for each check, found %+v", b.Status.Objectives)
	}
	for _, o := range b.Status.Objectives {
		if slices.Contains(unlikely, o.Name) && o.Result != v1alpha1.ObjectiveMet {
			t.Errorf("found %+v of a healthy cluster", o)
		}
	}
}
