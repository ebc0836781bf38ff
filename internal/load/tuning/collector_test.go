package tuning

import (
	"runtime/debug"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestTheCollectorIsTunedUnlessGOGCIsSet(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for _, tc := range []struct {
		set       string
		transport spec.Transport
		clients   int32
		want      int
	}{
		{"50", spec.TransportClient, 1, 100},
		{"", spec.TransportClient, 1, collectorPercent},
		{"", spec.TransportFast, 1000, 100},
		{"", spec.TransportFast, 70_000, ofManyOnLoops},
	} {
		t.Setenv("GOGC", tc.set)
		tuneCollector(spec.Load{Transport: tc.transport, Clients: tc.clients})
		if got := debug.SetGCPercent(100); got != tc.want {
			t.Errorf("GOGC=%q, %s: got %d, wanted %d", tc.set, tc.transport, got, tc.want)
		}
	}
}
