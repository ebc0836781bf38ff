package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Cluster has the objects and the requests of a Kubernetes cluster. docs/workload-kubernetes.md gives the source of each
// number.
type Cluster struct {
	// Nodes and Pods are the numbers of objects; as many pods are created as deleted.
	Nodes, Pods int64
	// PerMinute has the cluster's requests per minute.
	PerMinute spec.ClusterMinute
	// The lengths of objects in bytes.
	LeaseBytes, PodBytes, EventBytes int
}

const (
	podsPerNode = 30

	leaseBytes = 500
	podBytes   = 4096
	eventBytes = 700
)

// ClusterOf returns the cluster of the workload; one without nodes if its size is unknown.
func ClusterOf(k spec.Kubernetes) Cluster {
	return Cluster{
		Nodes: k.Size(), Pods: k.Size() * podsPerNode, PerMinute: k.PerMinute(),
		LeaseBytes: leaseBytes, PodBytes: podBytes, EventBytes: eventBytes,
	}
}

// kubernetes sends the requests of a cluster's API servers. Each client pod acts as one API server.
type kubernetes struct {
	base
	cluster Cluster
}

func newKubernetes(w spec.Workload) kind { return kubernetes{cluster: ClusterOf(*w.Kubernetes)} }

func (k kubernetes) values() spec.Values {
	return spec.Values{SizeBytes: int32(max(k.cluster.LeaseBytes, k.cluster.PodBytes, k.cluster.EventBytes))}
}

func (kubernetes) operations() []spec.Operation {
	return []spec.Operation{
		spec.OperationOptimisticPut, spec.OperationOptimisticDelete, spec.OperationListBy500, spec.OperationListBy10000,
		spec.OperationWatchEvent, spec.OperationWatchDelivery,
	}
}

func (k kubernetes) begin(w *Workload) {
	w.registry = newRegistry(k.cluster, w.run.Pods(), w.seed)
}

func (kubernetes) at(w *Workload, _ Stream, n int64) Operation { return w.registry.at(n) }

func (k kubernetes) preload(*Run) int64 { return k.cluster.Nodes + k.cluster.Pods }

func (kubernetes) preloaded(w *Workload, number int64) Operation { return w.registry.preload(number) }

// objectKeyBytes is the approximate length of an object's key after the prefix.
const objectKeyBytes = 45

// growth: a deletion leaves a tombstone without a value.
func (k kubernetes) growth(r *Run) (preload, request float64, known bool) {
	c, key := k.cluster, len(r.Prefix)+objectKeyBytes
	lease, pod, event := entryBytes(key+c.LeaseBytes), entryBytes(key+c.PodBytes), entryBytes(key+c.EventBytes)
	m := c.PerMinute
	minute := float64(m.LeaseUpdates)*lease + float64(m.PodCreates+m.PodUpdates)*pod + float64(m.PodCreates)*entryBytes(key) + float64(m.Events)*event
	return float64(c.Nodes)*lease + float64(c.Pods)*pod, minute / float64(max(m.Total(), 1)), true
}

// leases: events expire with leases, which are granted during the load.
func (kubernetes) leases(*Run) int64 { return leasesAsItGoes }

func (kubernetes) watch() *watch { return &watch{marked: true} }

// watchers are one for each resource, as in an API server.
func (kubernetes) watchers(w *Workload, _ int) [][]Watcher {
	var all []Watcher
	for _, resource := range Resources {
		key := w.AppendResource(nil, resource)
		// The first key after all keys with this prefix, whose last byte is a slash.
		end := append(key[:len(key)-1:len(key)-1], '/'+1)
		all = append(all, Watcher{What: int64(resource), Key: key, End: end, PrevKV: true, Reflect: true})
	}
	return [][]Watcher{all}
}

// podsPerCreate is the minimum number of pods for each pod that a client pod creates in a minute. Of these pods, those
// outside the margins can be changed.
const podsPerCreate = 4

// podMargin is how many of a client pod's newest and oldest pods it does not change. Requests that are in flight
// together may overtake each other by as many creations.
func podMargin(pods int64) int64 { return pods / 4 }

func (k kubernetes) check(r *Run) []error {
	c, pods := k.cluster, r.Pods()
	share, creates := c.Pods/int64(max(pods, 1)), c.PerMinute.PodCreates
	clients := podMargin(share) / max(creates, 1) * c.PerMinute.Total()
	return []error{
		Wanted(c.Nodes > 0, "workload.kubernetes", "profile Small, Medium or Large, or nodes", r.Workload.Kubernetes.Profile),
		Wanted(share >= podsPerCreate*creates, "load.pods",
			fmt.Sprintf("fewer client pods: each has a share of the cluster's %d simulated pods, and a share must "+
				"be at least %d times the %d pods that its client pod creates in a minute. Otherwise a client pod "+
				"could change a pod that is being created or deleted", c.Pods, podsPerCreate, creates), pods),
		Wanted(int64(pods) <= c.Nodes, "load.pods", fmt.Sprintf("at most %d, one for each node", c.Nodes), pods),
		Wanted(mostClients(r.Load) <= clients, "load.clients",
			fmt.Sprintf("at most %d clients for each client pod: with more, a request could overtake others by too many minutes of simulated time", clients), r.Load.Clients),
		Wanted(r.Load.WarmupSeconds == 0, "load.warmupSeconds", "0: a warm-up would create and delete the pods of the window", r.Load.WarmupSeconds),
	}
}

// mostClients returns the largest number of clients of a client pod.
func mostClients(l spec.Load) int64 {
	connections, pods := max(int64(l.Connections), 1), max(int64(l.Pods), 1)
	return ((connections-1)/pods + 1) * ((int64(l.Clients)-1)/connections + 1)
}
