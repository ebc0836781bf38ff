package plan

import (
	"errors"
	"fmt"
)

// WorkloadKubernetes sends what the API servers of a Kubernetes cluster send.
const WorkloadKubernetes WorkloadType = "Kubernetes"

// Kubernetes is the cluster that WorkloadKubernetes stands for. Each client pod is
// one of its API servers.
type Kubernetes struct {
	// Nodes and Pods that there are; as many pods are created as deleted.
	Nodes int64 `json:"nodes"`
	Pods  int64 `json:"pods"`
	// PerMinute is what the cluster writes and lists in a minute of its life.
	PerMinute KubernetesMinute `json:"perMinute"`
	// The lengths of objects in bytes; Workload.ValueSize is the greatest.
	LeaseBytes int `json:"leaseBytes"`
	PodBytes   int `json:"podBytes"`
	EventBytes int `json:"eventBytes"`
}

// KubernetesMinute is how often each request comes in a minute. Requests are
// mixed in this proportion, whatever the load's rate.
type KubernetesMinute struct {
	// LeaseUpdates renew the leases of nodes: each client pod those of the nodes
	// whose numbers are its index modulo the client pods, in turn.
	LeaseUpdates int64 `json:"leaseUpdates"`
	// PodCreates is how many pods are created, and how many are deleted.
	PodCreates int64 `json:"podCreates"`
	PodUpdates int64 `json:"podUpdates"`
	Events     int64 `json:"events"`
	// ListsBy500 and ListsBy10000 read all pods, in pages of that many.
	ListsBy500   int64 `json:"listsBy500"`
	ListsBy10000 int64 `json:"listsBy10000"`
}

// Total is the number of all requests.
func (m KubernetesMinute) Total() int64 {
	return m.LeaseUpdates + 2*m.PodCreates + m.PodUpdates + m.Events + m.ListsBy500 + m.ListsBy10000
}

// podsPerCreate is how many pods there are at least for each one that a client pod
// creates in a minute: what is left of them without PodMargin can be written.
const podsPerCreate = 4

// PodMargin is how far from the newest and from the oldest of so many pods of a
// client pod it keeps when it changes one: requests that are in flight together may
// overtake each other by as many creations.
func PodMargin(pods int64) int64 { return pods / 4 }

// objectKeyBytes is the length of an object's key after the prefix, about.
const objectKeyBytes = 45

// writeEstimate is what the objects that are there before the load, and so many
// requests, take of the database. What a deletion leaves has no value.
func (k *Kubernetes) writeEstimate(prefix int, requests float64) float64 {
	key := prefix + objectKeyBytes
	lease, pod, event := entryBytes(key+k.LeaseBytes), entryBytes(key+k.PodBytes), entryBytes(key+k.EventBytes)
	m := k.PerMinute
	minute := float64(m.LeaseUpdates)*lease + float64(m.PodCreates+m.PodUpdates)*pod + float64(m.PodCreates)*entryBytes(key) + float64(m.Events)*event
	return float64(k.Nodes)*lease + float64(k.Pods)*pod + requests*minute/float64(m.Total())
}

// UsesRegistry says whether the keys are those of a Kubernetes registry, and not
// numbers.
func (w Workload) UsesRegistry() bool { return w.Type == WorkloadKubernetes }

func (k *Kubernetes) validate(keyCount int64) error {
	m := k.PerMinute
	least := min(m.LeaseUpdates, m.PodCreates, m.PodUpdates, m.Events, m.ListsBy500, m.ListsBy10000)
	most := max(m.LeaseUpdates, m.PodCreates, m.PodUpdates, m.Events, m.ListsBy500, m.ListsBy10000)
	return errors.Join(
		check(keyCount == 0, "workload.keyCount", "0 for Kubernetes, whose objects have names", keyCount),
		check(k.Nodes >= 1 && k.Nodes <= 100_000, "workload.kubernetes.nodes", "1 to 100000", k.Nodes),
		check(m.PodCreates >= 1, "workload.kubernetes.perMinute.podCreates", "at least 1", m.PodCreates),
		check(k.Pods <= 10_000_000, "workload.kubernetes.pods", "at most 10000000", k.Pods),
		check(least >= 0 && most <= 1_000_000 && m.Total() <= 1_000_000, "workload.kubernetes.perMinute", "at most 1000000, none below 0", m),
		check(min(k.LeaseBytes, k.PodBytes, k.EventBytes) >= MinMarkedValue, "workload.kubernetes.podBytes",
			fmt.Sprintf("at least %d for each kind of object", MinMarkedValue), k),
	)
}

// validateKubernetes looks at what of it concerns more than the workload.
func (p Plan) validateKubernetes() error {
	k := p.Workload.Kubernetes
	if k == nil {
		return nil
	}
	greatest, creates := max(k.LeaseBytes, k.PodBytes, k.EventBytes), k.PerMinute.PodCreates
	share := k.Pods / int64(max(p.Pods, 1))
	return errors.Join(
		check(share >= podsPerCreate*creates, "workload.kubernetes.pods",
			fmt.Sprintf("at least %d times podCreates for each of %d client pods, so that none is written while it is created or deleted: use fewer client pods", podsPerCreate, p.Pods), k.Pods),
		check(int64(p.Pods) <= k.Nodes, "workload.kubernetes.nodes", fmt.Sprintf("at least %d, one for each client pod", p.Pods), k.Nodes),
		check(p.Load.mostClients(p.Pods) <= PodMargin(share)/max(creates, 1)*k.PerMinute.Total(), "load.clients",
			"fewer for each client pod, so that requests do not overtake each other by minutes of the cluster's life", p.Load.Clients),
		check(p.Workload.ValueSize == greatest && p.Workload.Values == (Values{}), "workload.valueSize", fmt.Sprintf("%d, that of the greatest object", greatest), p.Workload.ValueSize),
		check(p.Load.WarmupSeconds == 0, "load.warmupSeconds", "0, for a warm-up would create and delete the pods of the window", p.Load.WarmupSeconds),
	)
}
