package admission

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// An objective on an operation that the workload never sends is refused, and one on each operation that it sends is
// admitted: for the workload of every sample.
func TestObjectivesAreOnWhatIsSent(t *testing.T) {
	runs, err := Runs()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "config", "samples", "etcdbenchmark_*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d samples: %v", len(files), err)
	}
	seen := map[spec.WorkloadType]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sample := object(t, string(data))
		sample.SetNamespace("default")
		unstructured.RemoveNestedField(sample.Object, "spec", "objectives")
		admitted, err := runs.Create(sample, time.Now())
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if admitted.Spec.Profile != "" || admitted.Spec.Kubernetes != nil {
			// Such a run has no objectives of its own.
			continue
		}
		seen[admitted.Spec.Workload.Type] = true
		run := benchmark.Run(admitted)
		sent := run.Operations()
		for _, operation := range spec.AllOperations() {
			objective := map[string]any{"name": "o", "type": "Latency", "latency": map[string]any{"operation": string(operation), "statistic": "P99", "maxMicroseconds": int64(1)}}
			if err := unstructured.SetNestedSlice(sample.Object, []any{objective}, "spec", "objectives"); err != nil {
				t.Fatal(err)
			}
			if _, err := runs.Create(sample, time.Now()); (err == nil) != slices.Contains(sent, operation) {
				t.Errorf("%s sends %v: an objective on %s gave %v", filepath.Base(file), sent, operation, err)
			}
		}
	}
	for _, kind := range workload.Types() {
		if !seen[kind] {
			t.Errorf("no sample has the workload %s", kind)
		}
	}
}
