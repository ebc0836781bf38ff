package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cluster makes a plan of the workload Kubernetes.
func cluster(change func(*Plan)) func(*Plan) {
	return func(p *Plan) {
		p.FirstLease, p.Load.Connections, p.Load.Clients = LeaseIDs, 3, 30
		p.Workload = Workload{Type: WorkloadKubernetes, ValueSize: 100, Kubernetes: &Kubernetes{
			Nodes: 200, Pods: 24, LeaseBytes: 20, PodBytes: 100, EventBytes: 30,
			PerMinute: KubernetesMinute{LeaseUpdates: 30, PodCreates: 2, PodUpdates: 8, Events: 10, ListsBy500: 6, ListsBy10000: 2},
		}}
		change(p)
	}
}

func TestDecodeReturnsACluster(t *testing.T) {
	want := valid()
	cluster(func(*Plan) {})(&want)
	data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, plan changed on its way (-want +got):\n%s", err, diff)
	}
	if !got.OwnsLease(LeaseIDs) || got.Workload.Kubernetes.PerMinute.Total() != 60 {
		t.Errorf("owns its lease: %v, %d requests a minute, wanted 60", got.OwnsLease(LeaseIDs), got.Workload.Kubernetes.PerMinute.Total())
	}
	// Half of the requests renew leases, a quarter of them writes something greater.
	if bytes, known := got.WriteEstimate(); !known || bytes < 80_000*4096/25 || bytes > 100_000*4096/15 {
		t.Errorf("%d bytes are expected to be written (known: %v)", bytes, known)
	}
}

func TestValidateRefusesACluster(t *testing.T) {
	tests := map[string]struct {
		change func(*Plan)
		want   string
	}{
		"without its field":      {func(p *Plan) { p.Workload.Type = WorkloadKubernetes }, "workload.kubernetes"},
		"without leases":         {cluster(func(p *Plan) { p.FirstLease = 0 }), "firstLease"},
		"with keys by number":    {cluster(func(p *Plan) { p.Workload.KeyCount = 1 }), "workload.keyCount"},
		"without nodes":          {cluster(func(p *Plan) { p.Workload.Kubernetes.Nodes = 0 }), "kubernetes.nodes"},
		"with too few pods":      {cluster(func(p *Plan) { p.Workload.Kubernetes.Pods = 23 }), "kubernetes.pods"},
		"by too many pods":       {cluster(func(p *Plan) { p.Pods, p.Load.Connections = 4, 4 }), "use fewer client pods"},
		"with too many clients":  {cluster(func(p *Plan) { p.Load.Clients = 3*60 + 1 }), "load.clients"},
		"by one pod with most":   {cluster(func(p *Plan) { p.Load.Connections, p.Load.Clients = 4, 4*30+1 }), "load.clients"},
		"with too few nodes":     {cluster(func(p *Plan) { p.Workload.Kubernetes.Nodes = int64(p.Pods) - 1 }), "workload.kubernetes.nodes"},
		"without new pods":       {cluster(func(p *Plan) { p.Workload.Kubernetes.PerMinute.PodCreates = 0 }), "kubernetes.perMinute.podCreates: wanted at least 1"},
		"with too many pods":     {cluster(func(p *Plan) { p.Workload.Kubernetes.Pods = 10_000_001 }), "kubernetes.pods: wanted at most 10000000"},
		"with less than nothing": {cluster(func(p *Plan) { p.Workload.Kubernetes.PerMinute.Events = -1 }), "kubernetes.perMinute"},
		"with values too short":  {cluster(func(p *Plan) { p.Workload.Kubernetes.LeaseBytes = 15 }), "kubernetes.podBytes"},
		"with another length":    {cluster(func(p *Plan) { p.Workload.ValueSize = 99 }), "workload.valueSize"},
		"warmed up":              {cluster(func(p *Plan) { p.Load.WarmupSeconds = 1 }), "load.warmupSeconds"},
		"over Fast":              {cluster(func(p *Plan) { p.Load.Transport = TransportFast }), "load.transport"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			tc.change(&p)
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
