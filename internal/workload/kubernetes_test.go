package workload

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// serving makes a run of the workload Kubernetes.
func serving(change func(*Run)) func(*Run) {
	return func(r *Run) {
		r.FirstLease, r.Load.Connections, r.Load.Clients = LeaseIDs, 3, 30
		r.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterSmall}}
		change(r)
	}
}

func TestValidateRefusesACluster(t *testing.T) {
	requireProblems(t, map[string]problem{
		"without its field": {func(r *Run) { r.Workload.Type = spec.WorkloadKubernetes }, "workload: wanted the field of type Kubernetes"},
		"without leases":    {serving(func(r *Run) { r.FirstLease = 0 }), "firstLease"},
		"without nodes":     {serving(func(r *Run) { r.Workload.Kubernetes.Profile = "Tiny" }), "workload.kubernetes"},
		"over Fast":         {serving(func(r *Run) { r.Load.Transport = spec.TransportFast }), "load.transport"},
	})
	// A cluster in which a client pod runs short of objects sooner than in the clusters of the profiles.
	tight := Cluster{
		Nodes: 200, Pods: 24, LeaseBytes: 20, PodBytes: 100, EventBytes: 30,
		PerMinute: spec.ClusterMinute{LeaseUpdates: 30, PodCreates: 2, PodUpdates: 8, Events: 10, ListsBy500: 6, ListsBy10000: 2},
	}
	if total := tight.PerMinute.Total(); total != 60 {
		t.Errorf("%d requests a minute, wanted 60", total)
	}
	for name, tc := range map[string]struct {
		change func(*Run, *Cluster)
		want   string
	}{
		"that fits":             {func(*Run, *Cluster) {}, ""},
		"with too few pods":     {func(_ *Run, c *Cluster) { c.Pods = 23 }, "load.pods: wanted fewer client pods"},
		"by too many pods":      {func(r *Run, _ *Cluster) { r.Load.Pods, r.Load.Connections = 4, 4 }, "load.pods: wanted fewer client pods"},
		"with many clients":     {func(r *Run, _ *Cluster) { r.Load.Clients = 3 * 60 }, ""},
		"with too many clients": {func(r *Run, _ *Cluster) { r.Load.Clients = 3*60 + 1 }, "load.clients: wanted at most 60 clients"},
		"by one pod with most":  {func(r *Run, _ *Cluster) { r.Load.Connections, r.Load.Clients = 4, 4*30+1 }, "load.clients"},
		"with too few nodes":    {func(_ *Run, c *Cluster) { c.Nodes = 2 }, "load.pods: wanted at most 2"},
		"warmed up":             {func(r *Run, _ *Cluster) { r.Load.WarmupSeconds = 1 }, "load.warmupSeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			r, c := valid(), tight
			serving(func(r *Run) { tc.change(r, &c) })(&r)
			requireProblem(t, errors.Join(kubernetes{cluster: c}.check(&r)...), tc.want)
		})
	}
}

func TestAnAPIServerWatchesEachResource(t *testing.T) {
	var want []Watcher
	for what, resource := range []string{"leases", "pods", "events"} {
		want = append(want, Watcher{What: int64(what + 1), Key: []byte("p/registry/" + resource + "/"), End: []byte("p/registry/" + resource + "0"), PrevKV: true, Reflect: true})
	}
	for pod := range 3 {
		if diff := cmp.Diff([][]Watcher{want}, smallCluster(3).Watchers(pod)); diff != "" {
			t.Errorf("watchers of pod %d (-want +got):\n%s", pod, diff)
		}
	}
}

// Each cluster has values that are not checked again once its size is chosen.
func TestClustersOfAllSizesCanBeRun(t *testing.T) {
	for size, nodes := range map[spec.ClusterSize]int64{spec.ClusterSmall: 50, spec.ClusterMedium: 250, spec.ClusterLarge: 1000} {
		t.Run(string(size), func(t *testing.T) {
			c := ClusterOf(spec.Kubernetes{Profile: size})
			m := c.PerMinute
			if c.Nodes != nodes || c.Pods < nodes || min(m.LeaseUpdates, m.PodCreates, m.PodUpdates, m.Events, m.ListsBy500, m.ListsBy10000) < 1 {
				t.Errorf("the cluster is %+v", c)
			}
			if min(c.LeaseBytes, c.PodBytes, c.EventBytes) < spec.MinMarkedValue {
				t.Errorf("not all values of %+v can be marked", c)
			}
			r := valid()
			serving(func(r *Run) {
				r.Workload.Kubernetes.Profile = size
				// The greatest load that the API admits.
				r.Load.Pods, r.Load.Connections, r.Load.Clients = 25, 25, int32(nodes)
			})(&r)
			if err := r.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}
