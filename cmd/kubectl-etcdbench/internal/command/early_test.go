package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// No put takes less than a microsecond: after a few seconds it is certain that the objective of five minutes is missed.
func TestARunEndsWhenItHasMissed(t *testing.T) {
	t.Parallel()
	const manifest = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: early}
spec:
  target: {endpoints: ["127.0.0.1:2379"]}
  workload: {type: Put, put: {keys: {count: 100}}}
  load: {clients: 20, durationSeconds: 300, rate: {perSecond: 20}}
  objectives: [{name: p99, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 1}}]
  onObjectiveMissed: Stop
  timeoutSeconds: 600
`
	c := call(manifest, "run", "--local", "-f", "-", "--members", "1", "-o", "json")
	status := c.end(t)
	var run v1alpha1.EtcdBenchmark
	if err := json.Unmarshal([]byte(c.out.String()), &run); err != nil {
		t.Fatalf("%v\n%s", err, c.err)
	}
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	if finished.Reason != v1alpha1.ReasonMissedEarly || run.Status.Summary.MeasuredRequests == 0 {
		t.Errorf("found %+v and %+v", finished, run.Status.Summary)
	}
	// A machine that is busy with other tests can delay requests after the objective was judged, and so take the
	// certainty from the final verdict.
	judged, want := run.Status.Objectives[0], exitMissed
	if run.Status.Summary.Validity.Verdict == v1alpha1.ValidityClientBound && judged.Result == v1alpha1.ObjectiveUnknown {
		want = exitUnknown
	} else if judged.Result != v1alpha1.ObjectiveMissed {
		t.Errorf("found %+v", judged)
	}
	if status != want {
		t.Errorf("wanted exit status %d, got %d; standard error:\n%s", want, status, c.err)
	}
	cleaned := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionCleaned)
	if cleaned == nil || cleaned.Reason != v1alpha1.ReasonMembersDeleted {
		t.Errorf("found %+v, wanted the keys to be deleted", cleaned)
	}
}

// A form that cannot show a result is refused before the first run: nothing starts, and no file is left.
func TestFormsThatCannotShowAManifest(t *testing.T) {
	t.Parallel()
	for name, manifest := range map[string]string{"two targets": twoBuilds, "a run": puts} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "file.csv")
			c := call(manifest, "run", "--local", "-f", "-", "--member-binary", "branch="+etcdProgram(t), "-o", "rw-heatmaps="+file)
			if name == "a run" {
				c = call(manifest, "run", "--local", "-f", "-", "--members", "1", "-o", "rw-heatmaps="+file)
			}
			c.wantStatus(t, exitFailed)
			if said := c.err.String(); !strings.Contains(said, "rw-heatmaps: wanted a suite with") || strings.Contains(said, "Starting") {
				t.Errorf("found %s", said)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("the file was left")
			}
		})
	}
}
