//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// olderImage is the other image of etcd that hack/cluster provides.
const olderImage = "gcr.io/etcd-development/etcd:v3.6.16"

// buildsSuite has one short row. The images are those of the command line.
const buildsSuite = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSuite
metadata: {name: builds}
spec:
  targets:
  - {name: base, target: {ephemeral: {replicas: 1, image: base}}}
  - {name: new, target: {ephemeral: {replicas: 1, image: new}}}
  workloads: [{name: put, workload: {type: Put, put: {keys: {count: 1000}}}}]
  loads: [{name: few, load: {connections: 1, clients: 2, durationSeconds: 1}}]
  rounds: 3
  keepReports: All
  compare: {axis: Targets, baseline: {entry: base}, metrics: [{type: Throughput, tolerancePercent: 99}]}
`

// checkBuilds compares two images of etcd as a user types it: the exit status, the verdict of the row and a comment for a pull
// request, which names both.
func checkBuilds(t *testing.T) {
	ns := namespace(t, "builds")
	comment := filepath.Join(t.TempDir(), "comment.md")
	out, err := suite.commandWithInput(buildsSuite, filepath.Join(suite.root, "bin", "kubectl-etcdbench"),
		"ab", olderImage, memberImage, "--images", "-f", "-", "-n", ns, "--timeout", "5m", "-o", "json", "-o", "md="+comment)
	status := 0
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	var s v1alpha1.EtcdBenchmarkSuite
	if unread := json.Unmarshal([]byte(out), &s); unread != nil {
		t.Fatalf("wanted a suite, found %q (%v), and the exit status %d: %v", out, unread, status, err)
	}
	if len(s.Status.Comparisons) != 1 {
		t.Fatalf("wanted the verdict of one row, found %+v", s.Status)
	}
	// A busy machine may make runs invalid. Then there is no verdict, and the exit status says so.
	c, want := s.Status.Comparisons[0], map[v1alpha1.ComparisonVerdict]int{v1alpha1.NotRegressed: 0, v1alpha1.NotCompared: 3, v1alpha1.Regressed: 1}
	if c.BaselineCell != "base" || c.Cell != "new" || c.Verdict == v1alpha1.Regressed || status != want[c.Verdict] {
		t.Errorf("found the exit status %d and %+v (%v)", status, c, err)
	}
	for _, r := range s.Status.Results {
		if r.Reason != v1alpha1.ReasonCompleted || r.ServerMemoryBytes == 0 {
			t.Errorf("wanted a completed run with the memory of its member, found %+v", r)
		}
	}
	requireComment(t, comment)
	requireNoMembers(t, ns)
}

// requireComment requires both images with their versions, and the memory of the members beside the verdicts.
func requireComment(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, image := range map[string]string{"base": olderImage, "new": memberImage} {
		_, version, _ := strings.Cut(image, ":v")
		if want := fmt.Sprintf("- **%s**: %s: Etcd %s, 1 member", name, image, version); !strings.Contains(string(text), want) {
			t.Errorf("wanted %q in the comment, found:\n%s", want, text)
		}
	}
	for _, want := range []string{"| CELL |", "| MEMBERS' MEMORY |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("wanted %q in the comment, found:\n%s", want, text)
		}
	}
}
