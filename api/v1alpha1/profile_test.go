package v1alpha1

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// In etcdctl check perf every put writes a new key.
func TestProfilesHaveTheLoadsOfCheckPerf(t *testing.T) {
	tests := map[Profile]struct {
		perSecond int64
		clients   int32
	}{
		ProfileSmall: {150, 50}, ProfileMedium: {1000, 200}, ProfileLarge: {8000, 500}, ProfileXLarge: {15000, 1000},
	}
	for profile, tc := range tests {
		t.Run(string(profile), func(t *testing.T) {
			b := &EtcdBenchmark{Spec: EtcdBenchmarkSpec{Profile: profile}}
			r := b.Resolved()
			if l := r.Load; l.Rate.PerSecond != tc.perSecond || l.Clients != tc.clients || l.Connections != tc.clients || *l.DurationSeconds != 60 {
				t.Errorf("got the load %+v, wanted %+v for a minute", l, tc)
			}
			if p := r.Workload.Put; p.Keys.SizeBytes != 256 || p.Values.SizeBytes != 1024 || p.Keys.Count < 60*tc.perSecond {
				t.Errorf("got %+v, wanted 256 B keys, enough for every put, and 1,024 B values", p)
			}
			if len(r.Objectives) != 4 {
				t.Errorf("got %d objectives, wanted errors, rate, slowest and deviation", len(r.Objectives))
			}
		})
	}
}

// A newer operator may define a profile differently. A run keeps the definition with which it started.
func TestWhatStatusKeptOfAProfileHolds(t *testing.T) {
	b := &EtcdBenchmark{Spec: EtcdBenchmarkSpec{Profile: ProfileSmall}}
	b.KeepResolved()
	b.Status.Resolved.Load.Clients = 7
	b.KeepResolved()
	if got := b.Resolved().Load.Clients; got != 7 {
		t.Errorf("got %d clients, wanted the 7 in status", got)
	}
	plain := &EtcdBenchmark{Spec: EtcdBenchmarkSpec{Load: spec.Load{Clients: 3}}}
	plain.KeepResolved()
	if kept := plain.Status.Resolved; kept == nil || kept.Load.Clients != 3 || plain.Resolved().Load.Clients != 3 {
		t.Errorf("a run without a profile has %+v in status, wanted its 3 clients", kept)
	}
}
