package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
)

func TestEachSizeOfDatascaleCanBeRun(t *testing.T) {
	for name, s := range scales {
		f := &checkFlags{scale: name}
		m, err := f.manifest()
		if err != nil {
			t.Fatal(err)
		}
		run, err := admitted(admission.Runs, m)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := run.Spec.Workload.Put.Keys.Count; got != s.keys || *run.Spec.Load.Requests != s.keys {
			t.Errorf("%s: wanted %d keys, each written once, found %d", name, s.keys, got)
		}
	}
}

func TestDatascaleSaysHowMuchTheMemoryGrew(t *testing.T) {
	c := call("", "check", "datascale", "--members", "1", "-o", "json")
	if status := c.end(t); status != exitDone {
		t.Fatalf("exit status %d: %s", status, c.err.String())
	}
	if got := c.err.String(); !strings.Contains(got, "Put 10,000 keys") || !strings.Contains(got, "Memory grew: member-0 by ") {
		t.Errorf("got %q", got)
	}
}

func TestDatascaleWithoutNumbersOfMembers(t *testing.T) {
	if got := growthOf(&v1alpha1.EtcdBenchmark{}); !strings.Contains(got, "ended early") {
		t.Errorf("got %q", got)
	}
	c := call("", "check", "datascale", "--members", "1", "--load", "xxl")
	if status := c.end(t); status != exitFailed || !strings.Contains(c.err.String(), fmt.Sprintf("%q", "xxl")) {
		t.Errorf("wanted a refusal of the size, found status %d and %q", status, c.err.String())
	}
}
