package benchmark

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestFingerprint(t *testing.T) {
	machine := results.Machine{Processor: "Xeon", Kernel: "6.1.0", MemoryBytes: 16 << 30}
	pod := func(processors float64, m results.Machine) results.PodProcess {
		return results.PodProcess{Window: &results.ProcessWindow{Machine: m, Figures: map[results.ProcessFigure]float64{results.ProcessProcessors: processors}}}
	}
	type run struct {
		b *v1alpha1.EtcdBenchmark
		s results.Summary
	}
	with := func(change func(*run)) *v1alpha1.Fingerprint {
		r := run{b: &v1alpha1.EtcdBenchmark{}}
		r.b.Spec.Target.Datastore = spec.Etcd
		r.b.Spec.Load = spec.Load{Clients: 10, Seed: 1}
		r.b.Spec.Workload = spec.Workload{Type: spec.WorkloadPut}
		r.s.Target = &results.Target{Members: []results.Member{{Endpoint: "a:1", Version: "3.7.3"}, {Endpoint: "b:1", Version: "3.7.3"}, {Endpoint: "c:1", Version: "3.7.3"}}}
		r.s.Processes = []results.PodProcess{pod(4, machine), pod(2, machine), {Silent: true}}
		if change != nil {
			change(&r)
		}
		return fingerprint(r.b, r.s)
	}
	usual := with(nil)
	if usual.Members != 3 || len(usual.Versions) != 1 || len(usual.Processors) != 1 || usual.PodMillicores != 2000 || usual.NodeMemoryBytes != 16<<30 {
		t.Fatalf("found %+v", usual)
	}
	tests := map[string]struct {
		change           func(*run)
		sameID, sameHost bool
	}{
		"another seed": {func(r *run) { r.b.Spec.Load.Seed = 7 }, true, true},
		"another kernel": {func(r *run) {
			r.s.Processes = r.s.Processes[:1]
			r.s.Processes[0] = pod(2, results.Machine{Processor: "Xeon", Kernel: "6.2"})
		}, true, true},
		"another version":       {func(r *run) { r.s.Target.Members[1].Version = "3.6.5" }, false, true},
		"a member less":         {func(r *run) { r.s.Target.Members = r.s.Target.Members[1:] }, false, true},
		"a member without load": {func(r *run) { r.s.Target.Members[0] = results.Member{Name: "a"} }, false, true},
		"another load":          {func(r *run) { r.b.Spec.Load.Clients = 11 }, false, true},
		"a disturbance":         {func(r *run) { r.b.Spec.Disturbances = []spec.Disturbance{{Type: spec.DisturbanceCompact}} }, false, true},
		"another processor":     {func(r *run) { r.s.Processes[0] = pod(4, results.Machine{Processor: "EPYC"}) }, false, false},
		"a lower limit":         {func(r *run) { r.s.Processes[0].Window.Figures[results.ProcessQuotaProcessors] = 0.5 }, false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := with(tc.change)
			if (got.ID == usual.ID) != tc.sameID || (got.Client == usual.Client) != tc.sameHost {
				t.Errorf("found the id %s and the client %s, wanted the same id as %s: %v, the same client as %s: %v", got.ID, got.Client, usual.ID, tc.sameID, usual.Client, tc.sameHost)
			}
		})
	}
	for name, change := range map[string]func(*run){
		"the processor of a pod": func(r *run) { r.s.Processes[0].Window.Machine.Processor = "" },
		"the machine of a pod":   func(r *run) { r.s.Processes[0].Window = nil },
		"the processors":         func(r *run) { r.s.Processes = nil },
	} {
		if got := with(change); got.Client != "" {
			t.Errorf("%s: unknown, and the client is %s", name, got.Client)
		}
	}
	if empty := fingerprint(&v1alpha1.EtcdBenchmark{}, results.Summary{}); empty.Members != 0 || len(empty.Processors) > 0 || empty.PodMillicores != 0 {
		t.Errorf("without numbers, found %+v", empty)
	}
}
