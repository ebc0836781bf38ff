package tuning

import (
	"runtime/debug"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestTheCollectorIsRelaxedUnlessGOGCIsSet(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for _, tc := range []struct {
		set       string
		transport spec.Transport
		want      int
	}{
		{"50", spec.TransportClient, 100},
		{"", spec.TransportClient, collectorPercent},
		{"", spec.TransportFast, 100},
	} {
		t.Setenv("GOGC", tc.set)
		relaxCollector(tc.transport)
		if got := debug.SetGCPercent(100); got != tc.want {
			t.Errorf("GOGC=%q, %s: got %d, wanted %d", tc.set, tc.transport, got, tc.want)
		}
	}
}
