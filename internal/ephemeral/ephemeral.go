package ephemeral

import (
	"cmp"
	"net"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Member is one member of a cluster of a store.
type Member struct {
	// Index is its number among all, from 0.
	Index, Name string
	// Listen is the address on which it listens, Host the name or address at which others reach it.
	Listen, Host string
	Ports
	// DataDir is its folder, and ConfigDir that of its configuration.
	DataDir, ConfigDir string
}

// Ports are the ports of a member. Peer and Mesh are for the other members: in ZooKeeper, Mesh is for elections, in Consul for
// gossip. etcd has no Mesh.
type Ports struct{ Client, Peer, Mesh string }

// Endpoint is the member's address for clients, as host:port.
func (m Member) Endpoint() string { return net.JoinHostPort(m.Host, m.Client) }

// Process is how a member is started.
type Process struct {
	Args []string
	// Env are variables, as NAME=VALUE.
	Env []string
	// Files have to exist before the start: their content by their path.
	Files map[string]string
}

// Store is how members of a store are started.
type Store struct {
	// Name is that in messages, Program that of the executable in an image, and Process that of the process that serves.
	Name, Program, Process string
	// Ports are the usual ones.
	Ports Ports
	// Health is the path that answers 200 at the client port when the member serves and has a leader; empty for ZooKeeper,
	// whose command srvr answers with a mode then.
	Health string
	// Folder is where a member keeps its data on a volume of its own; empty: at its top, where ZooKeeper looks for its number.
	// etcd wants a folder that only it can read.
	Folder string
	// Embedded: the plugin can serve as a member itself.
	Embedded bool

	start   func(self Member, all []Member, token string, settings map[string]string) Process
	remarks []remark
}

var stores = map[spec.Datastore]Store{
	spec.Etcd: {
		Name: "etcd", Program: "etcd", Process: "etcd", Ports: Ports{Client: "2379", Peer: "2380"}, Health: "/health", Folder: "etcd", Embedded: true, start: startEtcd, remarks: etcdRemarks,
	},
	spec.ZooKeeper: {
		Name: "ZooKeeper", Program: "zkServer.sh", Process: "java", Ports: Ports{Client: "2181", Peer: "2888", Mesh: "3888"}, start: startZooKeeper, remarks: zooKeeperRemarks,
	},
	spec.Consul: {
		Name: "Consul", Program: "consul", Process: "consul", Ports: Ports{Client: "8500", Peer: "8300", Mesh: "8301"},
		Health: "/v1/catalog/nodes?consistent", start: startConsul, remarks: consulRemarks,
	},
}

// Of returns how members of a store are started. ok is false if that is not known.
func Of(store spec.Datastore) (s Store, ok bool) {
	s, ok = stores[cmp.Or(store, spec.DefaultDatastore)]
	return s, ok
}

// Start returns how a member of a new cluster of all is started. token tells the cluster from others. settings are further
// settings by name, as the API describes them.
func (s Store) Start(self Member, all []Member, token string, settings map[string]string) Process {
	return s.start(self, all, token, settings)
}
