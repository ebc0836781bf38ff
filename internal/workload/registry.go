package workload

import (
	"bytes"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Resource is a kind of object in a Kubernetes registry.
type Resource int64

// The resources.
const (
	// Leases are those of nodes, which renew them as heartbeats.
	Leases Resource = iota + 1
	Pods
	Events
)

// Resources are all of them.
var Resources = []Resource{Leases, Pods, Events}

// namespaces is the number of namespaces, for pods and events.
const namespaces = 10

// RegistryRange returns the range of the keys of all objects under a prefix.
func RegistryRange(prefix string) (from, to string) {
	return prefix + "registry/", prefix + "registry0"
}

// AppendResource appends the common prefix of the keys of a resource.
func (k *KeyWriter) AppendResource(dst []byte, resource Resource) []byte {
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

// AppendObject appends the key of an object by its number: <prefix>registry/<resource>/<namespace>/<name>.
func (k *KeyWriter) AppendObject(dst []byte, resource Resource, number int64) []byte {
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

// IsObject reports whether a run with this prefix could have written a key by AppendObject.
func IsObject(prefix string, key []byte) bool {
	k := KeyWriter{prefix: prefix}
	number, err := strconv.ParseInt(string(key[len(bytes.TrimRight(key, "0123456789")):]), 10, 64)
	if err != nil {
		return false
	}
	for _, resource := range Resources {
		if bytes.Equal(key, k.AppendObject(nil, resource, number)) {
			return true
		}
	}
	return false
}

// appendPadded appends a number, padded with zeros to so many digits.
func appendPadded(dst []byte, number int64, digits int) []byte {
	var room [20]byte
	written := strconv.AppendInt(room[:0], number, 10)
	for range digits - len(written) {
		dst = append(dst, '0')
	}
	return append(dst, written...)
}

// registry chooses requests as the API servers of a cluster send them. Each of its minutes has the same requests, in an
// order that is mixed once. The number of each kind is exact, and the number of a request determines its object.
//
// Each API server, which is a client pod, goes through these minutes at its own pace. It writes its own objects, by
// their number modulo servers, so the progress of the other servers does not matter to it.
type registry struct {
	Cluster
	minute
	parts []registryPart
	// changed mixes the pods that each server changes.
	changed []scatter
}

// registryPart has the requests of one kind in a minute.
type registryPart struct {
	perMinute int64
	operation func(*registry, moment) Operation
}

func newRegistry(c Cluster, servers int, seed uint64) *registry {
	m := c.PerMinute
	r := &registry{Cluster: c, parts: []registryPart{
		{m.LeaseUpdates, (*registry).renewal},
		{m.PodCreates, (*registry).creation},
		{m.PodCreates, (*registry).deletion},
		{m.PodUpdates, (*registry).update},
		{m.Events, (*registry).event},
		{m.ListsBy500, listing(spec.OperationListBy500, 500)},
		{m.ListsBy10000, listing(spec.OperationListBy10000, 10_000)},
	}}
	counts := make([]int64, len(r.parts))
	for i, part := range r.parts {
		counts[i] = part.perMinute
	}
	r.minute = newMinute(counts, seed, int64(servers))
	for server := range r.servers {
		r.changed = append(r.changed, newScatter(uint64(r.changeable(server)), hash(seed, updateSalt, uint64(server))))
	}
	return r
}

// at returns request n, which belongs to the server n modulo servers.
func (r *registry) at(n int64) Operation {
	kind, at := r.minute.at(n)
	op := r.parts[kind].operation(r, at)
	op.Subject, op.Value = OnObject, n
	return op
}

// object returns the global number of a server's k-th object.
func (r *registry) object(server, k int64) int64 { return k*r.servers + server }

// preloaded is how many of the preloaded pods belong to a server.
func (r *registry) preloaded(server int64) int64 {
	return CountModulo(r.Pods, int(r.servers), int(server))
}

// putObject creates or changes an object.
func putObject(resource Resource, number int64, create bool) Operation {
	return Operation{
		Kind: spec.OperationOptimisticPut, Subject: OnObject, Resource: resource, Key: number, Create: create, Writes: true, Watched: int64(resource),
	}
}

// renewal takes in turn the nodes whose kubelets are connected to the server. A kubelet keeps its connection, and
// renews its lease only after the previous response.
func (r *registry) renewal(m moment) Operation {
	node := m.number % CountModulo(r.Nodes, int(r.servers), int(m.server))
	return putObject(Leases, r.object(m.server, node), false)
}

// creation adds a pod after the server's last one; deletion removes the first one that is left.
func (r *registry) creation(m moment) Operation {
	number := r.object(m.server, r.preloaded(m.server)+m.number)
	return putObject(Pods, number, true)
}

func (r *registry) deletion(m moment) Operation {
	return Operation{Kind: spec.OperationOptimisticDelete, Resource: Pods, Key: r.object(m.server, m.number)}
}

// changeable is how many of its pods a server may change at any time: those that it neither creates nor deletes in this
// minute, minus a margin, since requests overtake each other.
func (r *registry) changeable(server int64) int64 {
	preloaded := r.preloaded(server)
	return preloaded - r.PerMinute.PodCreates - 2*podMargin(preloaded)
}

// update takes the server's changeable pods in turn, in a mixed order. A pod keeps its place in the order while newer
// pods replace older ones.
func (r *registry) update(m moment) Operation {
	first := (m.minute+1)*r.PerMinute.PodCreates + podMargin(r.preloaded(m.server))
	count := r.changeable(m.server)
	place := r.changed[m.server].of(uint64(m.number % count))
	k := first + (place-first%count+count)%count
	return putObject(Pods, r.object(m.server, k), false)
}

// updateSalt separates the choice of pods from other choices.
const updateSalt = 1<<32 + 1

func (r *registry) event(m moment) Operation {
	return putObject(Events, r.object(m.server, m.number), true)
}

// listing reads all pods in pages: of the size that clients use, and of the largest size that an API server requests
// from etcd.
func listing(kind spec.Operation, page int64) func(*registry, moment) Operation {
	return func(*registry, moment) Operation { return Operation{Kind: kind, Resource: Pods, PageSize: page} }
}

// preload returns the preloaded objects: the leases, and then the pods.
func (r *registry) preload(number int64) Operation {
	op := putObject(Leases, number, true)
	op.Value = number
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
