package results

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Each unanswered put may have caused as many events as an acknowledged one; a lost put has caused none.
func TestUnansweredPutsMayHaveCausedEvents(t *testing.T) {
	answered := func(n int) (h Histogram) {
		for range n {
			h.Record(1000)
		}
		return h
	}
	for name, tc := range map[string]struct {
		operation                 spec.Operation
		succeeded, failed, cutOff int
		lost, expected, want      uint64
	}{
		"all answered":    {spec.OperationPut, 100, 0, 0, 0, 300, 0},
		"some failed":     {spec.OperationPut, 100, 2, 0, 0, 250, 6},
		"some were cut":   {spec.OperationPut, 100, 2, 5, 0, 300, 21},
		"of objects":      {spec.OperationOptimisticPut, 100, 4, 0, 50, 150, 12},
		"not all watched": {spec.OperationPut, 100, 4, 0, 0, 10, 4},
		"none answered":   {spec.OperationPut, 0, 4, 0, 0, 0, 4},
		"reads have none": {spec.OperationRange, 100, 4, 5, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			merged := &Snapshot{Watch: Watch{Expected: tc.expected}, Operations: map[spec.Operation]*OperationResult{
				tc.operation: {Latency: answered(tc.succeeded), Failed: answered(tc.failed), Censored: answered(tc.cutOff), Lost: tc.lost},
			}}
			if got := uncountedEvents(merged); got != tc.want {
				t.Errorf("up to %d events are not counted, wanted %d", got, tc.want)
			}
		})
	}
}
