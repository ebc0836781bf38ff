package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// The pods whose disks are unknown or slow are shown first, so that the limit of rows does not hide them.
func TestSlowDisksAreFirst(t *testing.T) {
	b := finished([]*results.Snapshot{runtest.Measured(0, 10)}, func(b *v1alpha1.EtcdBenchmark) {
		b.Status.Pods = nil
		for i, d := range []v1alpha1.DiskStatus{
			{Device: "fast", FlushP50Microseconds: 100, FlushP99Microseconds: 200, FlushMaxMicroseconds: 900},
			{Device: "few", FlushP50Microseconds: 300, FlushMaxMicroseconds: 500},
			{Device: "slow", FlushP50Microseconds: 100, FlushP99Microseconds: 8000, FlushMaxMicroseconds: 9000},
			{Device: "hung"},
		} {
			b.Status.Pods = append(b.Status.Pods, v1alpha1.PodStatus{Index: int32(i), Disk: &d})
		}
	})
	_, lines := cells(t, b)
	var order []string
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) > 4 && len(fields[0]) == 1 && slices.Contains([]string{"fast", "few", "slow", "hung"}, fields[1]) {
			order = append(order, strings.Join(fields[1:], " "))
		}
	}
	want := []string{"hung unknown unknown unknown", "few 300µs – 500µs", "slow 100µs 8ms 9ms", "fast 100µs 200µs 900µs"}
	if !slices.Equal(order, want) {
		t.Errorf("got %q, wanted %q", order, want)
	}
}
