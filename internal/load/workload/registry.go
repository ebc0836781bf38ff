package workload

import (
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Resource is a kind of objects in a Kubernetes registry.
type Resource int64

// The resources.
const (
	// Leases are those of nodes, by which they say that they live.
	Leases Resource = iota + 1
	Pods
	Events
)

// Resources are all of them.
var Resources = []Resource{Leases, Pods, Events}

// Listings read this many objects with each request: the page of clients, and the
// greatest page for which an API server asks etcd.
const (
	clientPage  = 500
	longestPage = 10_000
)

// namespaces is how many there are, for pods and events.
const namespaces = 10

// RegistryRange returns the range of all objects' keys under a prefix.
func RegistryRange(prefix string) (from, to string) {
	return prefix + "registry/", prefix + "registry0"
}

// AppendResource appends what the keys of a resource begin with.
func (k *Keys) AppendResource(dst []byte, resource Resource) []byte {
	dst = append(append(dst, k.prefix...), "registry/"...)
	switch resource {
	case Leases:
		return append(dst, "leases/"...)
	case Pods:
		return append(dst, "pods/"...)
	default:
		return append(dst, "events/"...)
	}
}

// AppendObject appends the key of an object by its number:
// <prefix>registry/<resource>/<namespace>/<name>.
func (k *Keys) AppendObject(dst []byte, resource Resource, number int64) []byte {
	dst = k.AppendResource(dst, resource)
	if resource == Leases {
		return appendPadded(append(dst, "kube-node-lease/node-"...), number, 6)
	}
	dst = appendPadded(append(dst, "namespace-"...), number%namespaces, 1)
	if resource == Pods {
		return appendPadded(append(dst, "/pod-"...), number, 12)
	}
	return appendPadded(append(dst, "/event-"...), number, 12)
}

// appendPadded appends a number with zeros before it, to so many digits.
func appendPadded(dst []byte, number int64, digits int) []byte {
	var room [20]byte
	written := strconv.AppendInt(room[:0], number, 10)
	for range digits - len(written) {
		dst = append(dst, '0')
	}
	return append(dst, written...)
}

// registry chooses requests as the API servers of a cluster send them. Each of its
// minutes has the same requests, in an order that is mixed once: how many there
// are of each kind is exact, and which object one is about follows from its number.
type registry struct {
	plan.Kubernetes
	scatter
	seed  uint64
	parts []registryPart
}

// registryPart is what of a minute is of one kind: number counts its requests
// over all minutes.
type registryPart struct {
	perMinute int64
	operation func(r *registry, minute, number int64) Operation
}

func newRegistry(k *plan.Kubernetes, seed uint64) *registry {
	if k == nil {
		return nil
	}
	m := k.PerMinute
	return &registry{
		Kubernetes: *k, scatter: newScatter(uint64(m.Total()), seed), seed: seed,
		parts: []registryPart{
			{m.LeaseUpdates, (*registry).renewal},
			{m.PodCreates, (*registry).creation},
			{m.PodCreates, (*registry).deletion},
			{m.PodUpdates, (*registry).update},
			{m.Events, (*registry).event},
			{m.ListsBy500, listing(results.OperationListBy500)},
			{m.ListsBy10000, listing(results.OperationListBy10000)},
		},
	}
}

// at returns request n.
func (r *registry) at(n int64) (op Operation) {
	total := r.PerMinute.Total()
	minute, place := n/total, int64(r.of(uint64(n%total)))
	for _, part := range r.parts {
		if place < part.perMinute {
			op = part.operation(r, minute, minute*part.perMinute+place)
			break
		}
		place -= part.perMinute
	}
	op.Stream, op.Value = Measured, n
	return op
}

func (r *registry) renewal(_, number int64) Operation {
	return Operation{Kind: results.OperationOptimisticPut, Resource: Leases, Key: number % r.Nodes}
}

// creation makes a pod behind the last one, and deletion takes away the first one
// that is left.
func (r *registry) creation(_, number int64) Operation {
	return Operation{Kind: results.OperationOptimisticPut, Resource: Pods, Key: r.Pods + number, Create: true}
}

func (r *registry) deletion(_, number int64) Operation {
	return Operation{Kind: results.OperationOptimisticDelete, Resource: Pods, Key: number}
}

// update takes a pod that is neither created nor deleted in this minute nor in the
// ones beside it, since requests overtake each other.
func (r *registry) update(minute, number int64) Operation {
	first, last := (minute+2)*r.PerMinute.PodCreates, r.Pods+(minute-1)*r.PerMinute.PodCreates
	pod := first + int64(below(hash(r.seed, updateSalt, uint64(number)), uint64(last-first)))
	return Operation{Kind: results.OperationOptimisticPut, Resource: Pods, Key: pod}
}

// updateSalt keeps the choice of pods apart from others.
const updateSalt = 1<<32 + 1

func (r *registry) event(_, number int64) Operation {
	return Operation{Kind: results.OperationOptimisticPut, Resource: Events, Key: number, Create: true}
}

func listing(kind results.Operation) func(*registry, int64, int64) Operation {
	return func(*registry, int64, int64) Operation { return Operation{Kind: kind, Resource: Pods} }
}

// preload returns what is there before the load: the leases, and then the pods.
func (r *registry) preload(number int64) Operation {
	op := Operation{Kind: results.OperationOptimisticPut, Resource: Leases, Key: number, Value: number, Create: true}
	if number >= r.Nodes {
		op.Resource, op.Key = Pods, number-r.Nodes
	}
	return op
}

// size is the length of the values of a resource.
func (r *registry) size(resource Resource) int {
	switch resource {
	case Leases:
		return r.LeaseBytes
	case Pods:
		return r.PodBytes
	default:
		return r.EventBytes
	}
}

// OnObject says whether the operation is on an object of a registry, or on all of
// a resource.
func (o Operation) OnObject() bool { return o.Resource > 0 }

// PageSize is how many objects a listing reads at once; 0 if it is none.
func (o Operation) PageSize() int64 {
	switch o.Kind {
	case results.OperationListBy500:
		return clientPage
	case results.OperationListBy10000:
		return longestPage
	}
	return 0
}

// Watched returns who sees the operation: the watchers of its key or, of an
// object, those of its resource. It is false where watchers can time nothing.
func (o Operation) Watched() (what int64, ok bool) {
	switch o.Kind {
	case results.OperationPut:
		return o.Key, true
	case results.OperationOptimisticPut:
		return int64(o.Resource), true
	}
	return 0, false
}
