package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Cluster is what a Kubernetes cluster has and sends. docs/workloads.md says where
// each number is from.
type Cluster struct {
	// Nodes and Pods that there are; as many pods are created as deleted.
	Nodes, Pods int64
	// PerMinute is what the cluster writes and lists in a minute of its life.
	PerMinute Minute
	// The lengths of objects in bytes.
	LeaseBytes, PodBytes, EventBytes int
}

// Minute is how often each request comes in a minute. Requests are mixed in this
// proportion, whatever the load's rate.
type Minute struct {
	// LeaseUpdates renew the leases of nodes: each client pod those of the nodes
	// whose numbers are its index modulo the client pods, in turn.
	LeaseUpdates int64
	// PodCreates is how many pods are created, and how many are deleted.
	PodCreates, PodUpdates, Events int64
	// ListsBy500 and ListsBy10000 read all pods, in pages of that many.
	ListsBy500, ListsBy10000 int64
}

// total is the number of all requests.
func (m Minute) total() int64 {
	return m.LeaseUpdates + 2*m.PodCreates + m.PodUpdates + m.Events + m.ListsBy500 + m.ListsBy10000
}

const (
	podsPerNode           = 30
	leaseUpdatesPerNode   = 6 // a minute
	podCreatesPer50Nodes  = 6 // a minute
	updatesPerPod         = 4
	eventsPerPod          = 5
	listsBy500PerMinute   = 6
	listsBy10000PerMinute = 1

	leaseBytes = 500
	podBytes   = 4096
	eventBytes = 700
)

// nodesOf is how many nodes a cluster of each size has.
var nodesOf = map[spec.ClusterSize]int64{spec.ClusterSmall: 50, spec.ClusterMedium: 250, spec.ClusterLarge: 1000}

// ClusterOf is the cluster of a size; the zero Cluster if there is none such.
func ClusterOf(size spec.ClusterSize) Cluster {
	nodes := nodesOf[size]
	creates := nodes * podCreatesPer50Nodes / 50
	return Cluster{
		Nodes: nodes, Pods: nodes * podsPerNode,
		PerMinute: Minute{
			LeaseUpdates: nodes * leaseUpdatesPerNode,
			PodCreates:   creates, PodUpdates: creates * updatesPerPod, Events: creates * eventsPerPod,
			ListsBy500: listsBy500PerMinute, ListsBy10000: listsBy10000PerMinute,
		},
		LeaseBytes: leaseBytes, PodBytes: podBytes, EventBytes: eventBytes,
	}
}

// kubernetes sends what the API servers of a cluster send, each client pod as one
// of them.
type kubernetes struct {
	base
	cluster Cluster
}

func newKubernetes(w spec.Workload) kind { return kubernetes{cluster: ClusterOf(w.Kubernetes.Profile)} }

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

// objectKeyBytes is the length of an object's key after the prefix, about.
const objectKeyBytes = 45

// growth: what a deletion leaves has no value.
func (k kubernetes) growth(r *Run) (preload, request float64, known bool) {
	c, key := k.cluster, len(r.Prefix)+objectKeyBytes
	lease, pod, event := entryBytes(key+c.LeaseBytes), entryBytes(key+c.PodBytes), entryBytes(key+c.EventBytes)
	m := c.PerMinute
	minute := float64(m.LeaseUpdates)*lease + float64(m.PodCreates+m.PodUpdates)*pod + float64(m.PodCreates)*entryBytes(key) + float64(m.Events)*event
	return float64(c.Nodes)*lease + float64(c.Pods)*pod, minute / float64(max(m.total(), 1)), true
}

// leases: events expire by leases, which are granted as it goes.
func (kubernetes) leases(*Run) int64 { return leasesAsItGoes }

func (kubernetes) watch() *watch { return &watch{marked: true} }

// watchers are one of each resource, as an API server has them.
func (kubernetes) watchers(w *Workload, _ int) [][]Watcher {
	var all []Watcher
	for _, resource := range Resources {
		key := w.AppendResource(nil, resource)
		// The key after all that begin like it: its last byte is a slash.
		end := append(key[:len(key)-1:len(key)-1], '/'+1)
		all = append(all, Watcher{What: int64(resource), Key: key, End: end, PrevKV: true, Reflect: true})
	}
	return [][]Watcher{all}
}

// podsPerCreate is how many pods there are at least for each one that a client pod
// creates in a minute: what is left of them without a margin can be written.
const podsPerCreate = 4

// podMargin is how far from the newest and from the oldest of so many pods of a
// client pod it keeps when it changes one: requests that are in flight together may
// overtake each other by as many creations.
func podMargin(pods int64) int64 { return pods / 4 }

func (k kubernetes) check(r *Run) []error {
	c, pods := k.cluster, r.Pods()
	share, creates := c.Pods/int64(max(pods, 1)), c.PerMinute.PodCreates
	return []error{
		Wanted(c.Nodes > 0, "workload.kubernetes.profile", "Small, Medium or Large", r.Workload.Kubernetes.Profile),
		Wanted(share >= podsPerCreate*creates, "load.pods",
			fmt.Sprintf("so few that each has at least %d times the %d pods that it creates in a minute, of %d: none is written while it is created or deleted", podsPerCreate, creates, c.Pods), pods),
		Wanted(int64(pods) <= c.Nodes, "load.pods", fmt.Sprintf("at most %d, one for each node", c.Nodes), pods),
		Wanted(mostClients(r.Load) <= podMargin(share)/max(creates, 1)*c.PerMinute.total(), "load.clients",
			"fewer for each client pod, so that requests do not overtake each other by minutes of the cluster's life", r.Load.Clients),
		Wanted(r.Load.WarmupSeconds == 0, "load.warmupSeconds", "0: a warm-up would create and delete the pods of the window", r.Load.WarmupSeconds),
	}
}

// mostClients bounds how many clients one of the client pods has.
func mostClients(l spec.Load) int64 {
	connections, pods := max(int64(l.Connections), 1), max(int64(l.Pods), 1)
	return ((connections-1)/pods + 1) * ((int64(l.Clients)-1)/connections + 1)
}
