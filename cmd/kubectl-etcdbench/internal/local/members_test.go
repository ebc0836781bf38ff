package local

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// An embedded member has figures, except memory and processor time, which it shares with the load generator.
func TestAnEmbeddedMemberHasFigures(t *testing.T) {
	t.Setenv("TMPDIR", etcdtest.DataDir(t))
	run := mixed(func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Load.Requests, run.Spec.Load.DurationSeconds, run.Spec.Load.Rate = nil, new(int32(6)), &spec.Rate{PerSecond: 100, Arrival: spec.ArrivalConstant}
	})
	if _, err := Run(t.Context(), run, options(func(o *Options) { o.EmbeddedMembers = 1 })); err != nil {
		t.Fatal(err)
	}
	all := run.Status.Summary.Members
	if len(all) != 1 || all[0].Unknown != "" {
		t.Fatalf("got the members %+v, wanted figures of one", all)
	}
	// About half of the 600 requests are puts. A late first sample can miss some.
	if m := all[0]; m.Apply == nil || m.Apply.Count < 1 || m.Apply.Count > 600 || m.ClientReceivedBytes == nil {
		t.Errorf("got %+v, wanted the applies of about 300 puts", m)
	}
	if m := all[0]; m.MemoryBytes != nil || m.CPUMillicores != nil {
		t.Errorf("got memory %v and processors %v of a shared process, wanted neither", m.MemoryBytes, m.CPUMillicores)
	}
}
