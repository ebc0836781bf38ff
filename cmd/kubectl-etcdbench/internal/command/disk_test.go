package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// diskFolder returns a new folder outside of the folder for temporary files, which is often memory.
func diskFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "etcdbench-test-")
	if err != nil {
		t.Skipf("no folder on a disk: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// result is what a command that has ended wrote.
type result struct {
	out, err string
	status   int
}

func ended(t *testing.T, args ...string) result {
	t.Helper()
	c := call("", args...)
	status := c.end(t)
	return result{c.out.String(), c.err.String(), status}
}

// measureDisk runs the command, or a manifest, beside other tests, which may run an etcd on the same disk.
func measureDisk(t *testing.T, args ...string) (result, v1alpha1.EtcdBenchmark) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("disks are measured on Linux")
	}
	c := ended(t, append(args, "-o", "json")...)
	if strings.Contains(c.err, "lies in memory") || strings.Contains(c.err, "layer of a container") {
		t.Skip("this machine has no disk: " + c.err)
	}
	run := v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal([]byte(c.out), &run); err != nil {
		t.Fatalf("status %d, %v:\n%s%s", c.status, err, c.out, c.err)
	}
	return c, run
}

func TestDiskMeasuresFlushes(t *testing.T) {
	dir := diskFolder(t)
	c, run := measureDisk(t, "disk", "--path", dir, "--duration", "1s", "--rate", "100", "--acknowledge-running-etcd")
	if len(run.Status.Pods) != 1 || run.Status.Summary == nil {
		t.Fatalf("status %d: %s", c.status, c.err)
	}
	flush, d := operationOf(run.Status.Summary, spec.OperationFlush), run.Status.Pods[0].Disk
	// Less than 299 flushes are too few for a verdict on the 99th percentile, unless one of the lower ones misses.
	if flush == nil || flush.Succeeded < 90 || d == nil || d.Device == "" || d.FileSystem == "" || d.FlushMaxMicroseconds == 0 || c.status == exitDone || !strings.Contains(c.err, "this disk") && !strings.Contains(c.err, "Too slow") {
		t.Errorf("status %d, flushes %+v, disk %+v, and the answer:\n%s", c.status, flush, d, c.err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("found %v in the folder (%v), wanted nothing", left, err)
	}
	for _, w := range run.Status.Summary.Warnings {
		t.Errorf("unexpected warning: %s", w)
	}
}

// An objective of a manifest decides on the exit status.
func TestAManifestOfADiskMissesItsLimit(t *testing.T) {
	sample, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "config", "samples", "etcdbenchmark_disk.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("durationSeconds: 60", "durationSeconds: 1", "maxMicroseconds: 10000", "maxMicroseconds: 1", "statistic: P99", "statistic: Mean",
		"    rate:\n      perSecond: 50\n", "", "spec:\n", "spec:\n  guard: {acknowledgeControlPlane: true}\n").Replace(string(sample))
	file := filepath.Join(t.TempDir(), "disk.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := ended(t, "run", "--local", "-f", file); c.status != exitFailed || !strings.Contains(c.err, "--data-dir") {
		t.Errorf("without a folder: status %d, %s", c.status, c.err)
	}
	c, run := measureDisk(t, "run", "--local", "-f", file, "--data-dir", diskFolder(t))
	if c.status != exitMissed && c.status != exitUnknown || len(run.Status.Objectives) != 2 || run.Status.Objectives[0].Result == v1alpha1.ObjectiveMet {
		t.Errorf("status %d, objectives %+v: a flush below a microsecond is none", c.status, run.Status.Objectives)
	}
}

func TestTheFlagsOfDisk(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no folder":      {nil, "--path"},
		"half a second":  {[]string{"--path", "/", "--duration", "500ms"}, "--duration"},
		"a negative":     {[]string{"--path", "/", "--rate", "-1"}, "--rate"},
		"an empty entry": {[]string{"--path", "/", "--entry-bytes", "0"}, "--entry-bytes: wanted 1 to"},
		"no such field":  {[]string{"--path", "/", "--set", "foo=1"}, "for example timeoutSeconds=600"},
		"another target": {[]string{"--path", "/", "--set", "target.datastore=Etcd"}, "the command disk"},
		"no such folder": {[]string{"--path", "/nonexistent"}, "The folder cannot be measured. TargetUnhealthy"},
	} {
		c := ended(t, append([]string{"disk"}, tc.args...)...)
		if c.status != exitFailed || !strings.Contains(c.out+c.err, tc.want) {
			t.Errorf("%s: status %d, wanted %d and words about %s:\n%s%s", name, c.status, exitFailed, tc.want, c.out, c.err)
		}
	}
}

func TestTheAnswerAboutADisk(t *testing.T) {
	const figures = "p99 of 3,000 flushes 4ms, the slowest 9ms; etcd's limit for p99 is 10ms (https://etcd.io/docs/v3.6/faq/)."
	run := func(finished string, passed metav1.ConditionStatus, changes ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
		b := &v1alpha1.EtcdBenchmark{}
		b.Status.Conditions = []metav1.Condition{
			{Type: v1alpha1.ConditionFinished, Reason: finished, Message: "Why."}, {Type: v1alpha1.ConditionPassed, Status: passed, Message: "too few requests"},
		}
		b.Status.Summary = &v1alpha1.Summary{MeasuredRequests: 3000, Operations: []v1alpha1.OperationSummary{
			{Operation: spec.OperationAppend, Succeeded: 3000},
			{Operation: spec.OperationFlush, Succeeded: 3000, Latency: &v1alpha1.LatencySummary{P99Microseconds: 4000, MaxMicroseconds: 9000, ErrorBoundPerMillion: 1}},
		}}
		for _, change := range changes {
			change(b)
		}
		return b
	}
	slow := func(b *v1alpha1.EtcdBenchmark) { b.Status.Summary.Operations[1].Latency.MaxMicroseconds = 1_200_000 }
	failing := func(b *v1alpha1.EtcdBenchmark) {
		o := &b.Status.Summary.Operations[0]
		o.Failed, o.Censored = 1100, 7
		o.Errors = []v1alpha1.ErrorCount{{Code: "DeadlineExceeded", Count: 100}, {Code: "Unknown", Count: 1000, Example: "input/output error"}}
	}
	for want, b := range map[string]*v1alpha1.EtcdBenchmark{
		"Fast enough for etcd's log: " + figures: run(v1alpha1.ReasonCompleted, metav1.ConditionTrue),
		"Too slow for etcd's log: " + figures:    run(v1alpha1.ReasonCompleted, metav1.ConditionFalse),
		"Not reliable enough for etcd's log: 1,100 of 4,107 appends failed, most often with Unknown (input/output error).": run(v1alpha1.ReasonCompleted, metav1.ConditionFalse, failing),
		"Keeps etcd's limit, but not always: one flush took longer than etcd's election timeout (1s), so the leader could change. " +
			strings.Replace(figures, "9ms", "1.2s", 1): run(v1alpha1.ReasonCompleted, metav1.ConditionTrue, slow),
		"No verdict on this disk: too few requests": run(v1alpha1.ReasonCompleted, metav1.ConditionUnknown),
		"No verdict on this disk: the tail is thin": run(v1alpha1.ReasonCompleted, metav1.ConditionUnknown, func(b *v1alpha1.EtcdBenchmark) {
			b.Status.Objectives = []v1alpha1.ObjectiveStatus{{Result: v1alpha1.ObjectiveMet, Message: "kept"}, {Result: v1alpha1.ObjectiveUnknown, Message: "the tail is thin"}}
		}),
		"No verdict on this disk: the run ended early. Stopped: Why.":    run(v1alpha1.ReasonStopped, metav1.ConditionFalse),
		"No verdict on this disk: the run ended early. TargetLost: Why.": run(v1alpha1.ReasonTargetLost, metav1.ConditionFalse, failing),
		"The folder cannot be measured. TargetUnhealthy: Why.": run(v1alpha1.ReasonTargetUnhealthy, metav1.ConditionUnknown, func(b *v1alpha1.EtcdBenchmark) {
			b.Status.Summary = nil
		}),
	} {
		if got := diskAnswer(b); got != want {
			t.Errorf("got %q, wanted %q", got, want)
		}
	}
}
