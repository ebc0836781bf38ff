//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// neighbours are keys close to a run's prefix, which the run must not change.
var neighbours = []string{"a", "etcdbench", "etcdbench.", "etcdbench/", "etcdbench/00000000", "etcdbench/zzzzzzzz/k", "etcdbench0", "registry/x"}

// putNeighbours writes them and returns the store after that.
func putNeighbours(t *testing.T, c *etcdCluster, keys []string) map[string]entry {
	t.Helper()
	for _, key := range keys {
		if _, err := c.etcdctl("put", key, "untouched"); err != nil {
			t.Fatal(err)
		}
	}
	return mustStore(t, c, "")
}

// mustStore returns every key under a prefix; a failure ends the test.
func mustStore(t *testing.T, c *etcdCluster, prefix string) map[string]entry {
	t.Helper()
	found, err := c.store(prefix)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// requireStore requires that the whole store is unchanged: keys, values, revisions.
func requireStore(t *testing.T, c *etcdCluster, want map[string]entry) {
	t.Helper()
	if diff := cmp.Diff(want, mustStore(t, c, "")); diff != "" {
		t.Errorf("the run changed the store (-before +after):\n%s", diff)
	}
}

// checkSample applies the sample as a user does and compares its result with etcd's own counters.
func checkSample(t *testing.T) {
	c := suite.counted
	store := putNeighbours(t, c, neighbours)
	before := mustCounters(t, c)

	sample := filepath.Join(suite.root, "config", "samples", "etcdbenchmark_put.yaml")
	name := strings.TrimSpace(mustKubectl(t, "create", "-n", c.namespace, "-f", sample, "-o", "jsonpath={.metadata.name}"))
	t.Cleanup(func() {
		if t.Failed() {
			dump(t, c.namespace)
		}
	})
	// Wait from the beginning: the object must not look finished before the operator has seen it.
	mustKubectl(t, "wait", "-n", c.namespace, "--for=condition=Finished", "etcdbenchmark/"+name, "--timeout=5m")
	b := awaitEnd(t, named(c.namespace, name))

	requireCompleted(t, b)
	requireMeasured(t, b, 100_000)
	requireSameCounts(t, b, mustCounters(t, c).since(before))
	requireOrderedPercentiles(t, b)
	checkDoctor(t, c)
	checkObserving(t, c)
	requireReadClients(t, b)
	requireStore(t, c, store)
	if got := len(b.Status.Pods); got != 3 {
		t.Errorf("wanted 3 pods to report, found %d", got)
	}
	requireColumns(t, b)
	requireStageEvents(t, b)
	logTimes(t, b)
}

func named(namespace, name string) *v1alpha1.EtcdBenchmark {
	b := &v1alpha1.EtcdBenchmark{}
	b.SetNamespace(namespace)
	b.SetName(name)
	return b
}

// requireColumns checks the output of `kubectl get eb`.
func requireColumns(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	lines := strings.Split(mustKubectl(t, "get", "eb", "-n", b.Namespace, b.Name), "\n")
	want := []string{"NAME", "WORKLOAD", "TARGET", "STATE", "PASSED", "THROUGHPUT", "P99", "ERRORS", "PODS", "AGE"}
	if diff := cmp.Diff(want, strings.Fields(lines[0])); diff != "" {
		t.Errorf("kubectl get eb: columns (-want +got):\n%s", diff)
	}
	errors := fmt.Sprintf(" %d ", b.Status.Summary.FailedRequests)
	for _, cell := range []string{"Completed", b.Status.Display.Throughput, b.Status.Display.P99, errors, "3/3"} {
		if cell == "" || !strings.Contains(lines[1], cell) {
			t.Errorf("kubectl get eb: wanted %q in the row, found %q", cell, lines[1])
		}
	}
}

// requireStageEvents checks the output of `kubectl describe`: its events show every stage.
func requireStageEvents(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	story := []string{v1alpha1.StagePreparing, v1alpha1.StageArmed, v1alpha1.StageRunning, v1alpha1.StageCollecting, v1alpha1.ReasonCompleted}
	// Events are written separately from the status.
	eventually(t, 30*time.Second, "all stages in the events", func(context.Context) error {
		out, err := suite.kubectl("describe", "eb", "-n", b.Namespace, b.Name)
		if err != nil {
			return err
		}
		_, events, _ := strings.Cut(out, "\nEvents:")
		return containsAll(events, story)
	})
}

// logTimes logs durations; none of them fails the test.
func logTimes(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	if b.Status.CompletionTime == nil || b.Status.Summary.WindowEnd == nil {
		t.Fatalf("wanted completionTime and windowEnd, found %v and %v", b.Status.CompletionTime, b.Status.Summary.WindowEnd)
	}
	t.Logf("%s requests/s; start skew %d µs; keys deleted and finished %s after the last response", b.Status.Summary.ThroughputPerSecond,
		b.Status.Summary.StartSkewMicroseconds, b.Status.CompletionTime.Sub(b.Status.Summary.WindowEnd.Time))
}

// containsAll returns an error with the wanted words that a text lacks.
func containsAll(text string, wanted []string) error {
	for _, word := range wanted {
		if !strings.Contains(text, word) {
			return fmt.Errorf("wanted %q, found: %s", word, strings.TrimSpace(text))
		}
	}
	return nil
}
