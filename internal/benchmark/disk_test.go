package benchmark

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Percentiles of few flushes, and those that fall on a flush without an end, are absent.
func TestTheFlushesOfAPod(t *testing.T) {
	for name, tc := range map[string]struct {
		ended, failed, unanswered uint64
		median, p99               bool
	}{
		"enough":     {1000, 0, 0, true, true},
		"few":        {999, 0, 0, true, false},
		"very few":   {19, 0, 0, false, false},
		"failed":     {1000, 50, 0, true, false},
		"unanswered": {1000, 0, 2000, false, false},
		"none ended": {0, 2000, 0, false, false},
	} {
		op := &results.OperationResult{}
		op.Latency.RecordAlike(int64(time.Millisecond), tc.ended)
		op.Failed.RecordAlike(int64(time.Second), tc.failed)
		op.Censored.RecordAlike(int64(time.Second), tc.unanswered)
		got := diskOf(&results.Snapshot{Target: &results.Target{Disk: &results.Disk{}}, Operations: map[spec.Operation]*results.OperationResult{spec.OperationFlush: op}})
		if got.FlushP50Microseconds > 0 != tc.median || got.FlushP99Microseconds > 0 != tc.p99 || got.FlushMaxMicroseconds > 0 != (tc.ended > 0) {
			t.Errorf("%s: got %+v, wanted a median: %v, a P99: %v", name, got, tc.median, tc.p99)
		}
	}
}
