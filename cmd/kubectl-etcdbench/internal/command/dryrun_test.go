package command

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// What is printed can be run again, and has the defaults. Nothing is created.
func TestDryRunPrintsWhatWouldBeCreated(t *testing.T) {
	ns := namespace(t)
	for name, args := range map[string][]string{
		"server":  {"--dry-run", "-n", ns},
		"client":  {"--dry-run=client"},
		"local":   {"--dry-run", "--local"},
		"members": {"--dry-run", "--local", "--members", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(puts, append([]string{"run", "-f", "-"}, args...)...)
			c.wantStatus(t, exitDone)
			var run v1alpha1.EtcdBenchmark
			if err := yaml.UnmarshalStrict([]byte(c.out.String()), &run); err != nil {
				t.Fatalf("%v\n%s", err, c.out)
			}
			if run.Kind != "EtcdBenchmark" || run.Name != "puts" || run.UID != "" || run.Spec.TimeoutSeconds == 0 || strings.Contains(c.out.String(), "status:") {
				t.Errorf("got\n%s", c.out)
			}
			again := call(c.out.String(), "run", "-f", "-", "--dry-run=client", "-o", "json")
			again.wantStatus(t, exitDone)
			var second v1alpha1.EtcdBenchmark
			if err := json.Unmarshal([]byte(again.out.String()), &second); err != nil {
				t.Fatal(err)
			}
			if specOf(t, &second) != specOf(t, &run) {
				t.Errorf("wanted %s, got %s", specOf(t, &run), specOf(t, &second))
			}
		})
	}
	runs := &v1alpha1.EtcdBenchmarkList{}
	if err := apiServer.client.List(t.Context(), runs, client.InNamespace(ns)); err != nil || len(runs.Items) > 0 {
		t.Errorf("found %d runs: %v", len(runs.Items), err)
	}
}

// The target of the flags is that of the printed manifest.
func TestDryRunOfALocalRunHasItsTarget(t *testing.T) {
	c := call(puts, "run", "--local", "-f", "-", "--dry-run", "--endpoints", "127.0.0.1:9999")
	c.wantStatus(t, exitDone)
	if !strings.Contains(c.out.String(), "127.0.0.1:9999") {
		t.Errorf("got\n%s", c.out)
	}
}

func TestDryRunOfASuite(t *testing.T) {
	ns := namespace(t)
	for _, args := range [][]string{{"--dry-run", "-n", ns}, {"--dry-run=client"}, {"--dry-run", "--local"}} {
		c := call(smallSuite, append([]string{"run", "-f", "-"}, args...)...)
		c.wantStatus(t, exitDone)
		var s v1alpha1.EtcdBenchmarkSuite
		if err := yaml.UnmarshalStrict([]byte(c.out.String()), &s); err != nil || s.Kind != "EtcdBenchmarkSuite" || len(s.Spec.Loads) != 2 {
			t.Errorf("%v: %v\n%s", args, err, c.out)
		}
	}
	suites := &v1alpha1.EtcdBenchmarkSuiteList{}
	if err := apiServer.client.List(t.Context(), suites, client.InNamespace(ns)); err != nil || len(suites.Items) > 0 {
		t.Errorf("found %d suites: %v", len(suites.Items), err)
	}
}

func TestDryRunRefuses(t *testing.T) {
	ns := namespace(t)
	call(puts, "run", "-f", "-", "-n", ns, "--timeout", "1ms").wantStatus(t, exitUnknown)
	badCell := strings.Replace(smallSuite, "clients: 2", "connections: 3", 1)
	for name, tc := range map[string]struct {
		manifest string
		args     []string
		want     string
	}{
		"a name that exists":   {puts, []string{"--dry-run", "-n", ns}, "exists already"},
		"a bad field":          {strings.Replace(puts, "clients: 2", "clients: 0", 1), []string{"--dry-run=client"}, "spec.load.clients"},
		"a bad field, server":  {strings.Replace(puts, "clients: 2", "clients: 0", 1), []string{"--dry-run=server", "-n", ns}, "spec.load.clients"},
		"a bad cell":           {badCell, []string{"--dry-run=client"}, "spec.loads[1].load"},
		"a bad cell, server":   {badCell, []string{"--dry-run", "-n", ns}, "spec.loads[1].load"},
		"a service, local":     {strings.Replace(puts, `endpoints: ["127.0.0.1:2379"]`, "service: {name: etcd}", 1), []string{"--dry-run", "--local"}, "--endpoints"},
		"a server, local":      {puts, []string{"--dry-run=server", "--local"}, "remove one of them"},
		"an unknown mode":      {puts, []string{"--dry-run=none"}, `found "none"`},
		"a form of the result": {puts, []string{"--dry-run=client", "-o", "csv"}, "-o yaml or -o json"},
	} {
		c := call(tc.manifest, append([]string{"run", "-f", "-"}, tc.args...)...)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), tc.want) || c.out.String() != "" {
			t.Errorf("%s: wanted %q, got %s %s", name, tc.want, c.err, c.out)
		}
	}
}
