package spec

import (
	"maps"
	"slices"
)

// Datastore is a store that can be loaded.
//
// +kubebuilder:validation:Enum=Etcd;Kine;ZooKeeper
type Datastore string

// The stores.
const (
	// Etcd is etcd 3.4 or newer.
	Etcd Datastore = "Etcd"
	// Kine is kine, which serves the API servers of K3s from a SQL database.
	Kine Datastore = "Kine"
	// ZooKeeper is ZooKeeper 3.5 or newer.
	ZooKeeper Datastore = "ZooKeeper"
)

// DefaultDatastore is the store of a target that does not name one.
const DefaultDatastore = Etcd

// Transport is the client that sends requests to the store.
//
// +kubebuilder:validation:Enum=Client;Fast
type Transport string

// The transports.
const (
	// TransportClient is the store's usual Go library, as applications use it.
	TransportClient Transport = "Client"
	// TransportFast is this project's own client. It needs much less processor
	// time, so the client is less likely to limit the result.
	TransportFast Transport = "Fast"
)

// MemberSelection says which members of the target receive the load.
//
// +kubebuilder:validation:Enum=All;Leader;Followers
type MemberSelection string

// The selections of members.
const (
	// MembersAll spreads connections evenly over all members.
	MembersAll MemberSelection = "All"
	// MembersLeader sends every request to the leader, and follows it when it
	// changes.
	MembersLeader MemberSelection = "Leader"
	// MembersFollowers spreads connections over the members that are not the
	// leader.
	MembersFollowers MemberSelection = "Followers"
)

// UnreachableMembers says what a run does about addresses of the target that do
// not answer when it starts.
//
// +kubebuilder:validation:Enum=Fail;Skip
type UnreachableMembers string

// What a run does about addresses that do not answer.
const (
	// UnreachableFail ends the run before it writes anything.
	UnreachableFail UnreachableMembers = "Fail"
	// UnreachableSkip loads the addresses that answer.
	UnreachableSkip UnreachableMembers = "Skip"
)

// RPC is the name of a request of a store's protocol, as the store itself
// counts it. For etcd it is a call of its gRPC services, as in the label
// grpc_method of its counters. For a call with a stream of requests, each
// message counts: grpc_server_msg_received_total minus
// grpc_server_handled_total, because etcd counts the end of a stream as a
// message.
type RPC string

// The requests to etcd.
const (
	RPCPut         RPC = "Put"
	RPCRange       RPC = "Range"
	RPCDeleteRange RPC = "DeleteRange"
	RPCTxn         RPC = "Txn"
	RPCStatus      RPC = "Status"
	RPCMemberList  RPC = "MemberList"
	RPCAlarm       RPC = "Alarm"
	RPCCompact     RPC = "Compact"
	RPCDefragment  RPC = "Defragment"
	// RPCRangeStream has one request and a stream of responses.
	RPCRangeStream    RPC = "RangeStream"
	RPCLeaseGrant     RPC = "LeaseGrant"
	RPCLeaseRevoke    RPC = "LeaseRevoke"
	RPCLeaseKeepAlive RPC = "LeaseKeepAlive"
	RPCLeaseLeases    RPC = "LeaseLeases"
	// RPCLeaseTimeToLive looks at the lock of the target.
	RPCLeaseTimeToLive RPC = "LeaseTimeToLive"
	RPCWatch           RPC = "Watch"
	// RPCAuthenticate logs a user in.
	RPCAuthenticate RPC = "Authenticate"
	// RPCLock and RPCUnlock are those of etcd's lock service.
	RPCLock   RPC = "Lock"
	RPCUnlock RPC = "Unlock"
)

// The requests to ZooKeeper, by the names in its log.
const (
	RPCCreateSession RPC = "createSession"
	// RPCResumeSession resumes a session over another connection.
	RPCResumeSession RPC = "resumeSession"
	RPCCloseSession  RPC = "closeSession"
	RPCCreate        RPC = "create"
	RPCMulti         RPC = "multi"
	RPCExists        RPC = "exists"
	RPCGetData       RPC = "getData"
	RPCSync          RPC = "sync"
	RPCGetChildren   RPC = "getChildren2"
	// RPCServer is the command that returns a server's health.
	RPCServer RPC = "srvr"
)

// Carries says which workloads a transport can carry.
type Carries string

// The values of Carries.
const (
	// Everything means every workload of the store.
	Everything Carries = "every workload"
	// Unary means every workload whose requests have one response each.
	Unary Carries = "workloads whose requests have one response each"
)

// Store describes what a store can do.
type Store struct {
	// Name is the store's name in messages.
	Name string
	// RPCs are the requests that a run may send.
	RPCs       []RPC
	Transports map[Transport]Carries
	// TLS and Users: the driver supports them.
	TLS, Users bool
	// SelectsMembers: the load can go to the leader alone, or to the followers.
	SelectsMembers bool
	// Disturbances are those that a run may make.
	Disturbances []DisturbanceType
}

// stores has every store.
var stores = map[Datastore]Store{
	Etcd: {
		Name: "etcd",
		RPCs: []RPC{
			RPCPut, RPCRange, RPCDeleteRange, RPCTxn, RPCStatus, RPCMemberList, RPCAlarm, RPCCompact, RPCDefragment,
			RPCRangeStream, RPCLeaseGrant, RPCLeaseRevoke, RPCLeaseKeepAlive, RPCLeaseLeases,
			RPCLeaseTimeToLive, RPCWatch, RPCAuthenticate, RPCLock, RPCUnlock,
		},
		Transports: map[Transport]Carries{TransportClient: Everything, TransportFast: Unary},
		TLS:        true, Users: true, SelectsMembers: true, Disturbances: DisturbanceTypes(),
	},
	Kine: {
		Name:       "kine",
		RPCs:       []RPC{RPCRange, RPCTxn, RPCStatus, RPCLeaseGrant, RPCWatch},
		Transports: map[Transport]Carries{TransportClient: Everything},
		TLS:        true,
	},
	ZooKeeper: {
		Name: "ZooKeeper",
		RPCs: []RPC{
			RPCCreateSession, RPCResumeSession, RPCCloseSession, RPCCreate, RPCMulti, RPCExists, RPCGetData, RPCSync, RPCGetChildren, RPCServer,
		},
		Transports: map[Transport]Carries{TransportClient: Everything},
	},
}

// Store returns what the store can do. ok is false for an unknown store.
func (d Datastore) Store() (s Store, ok bool) {
	s, ok = stores[d]
	return s, ok
}

// Datastores returns all stores, sorted by name.
func Datastores() []Datastore { return slices.Sorted(maps.Keys(stores)) }

// MostRPCs is the highest number of different RPCs that a run may send.
var MostRPCs = func() (most int) {
	for _, s := range stores {
		most = max(most, len(s.RPCs))
	}
	return most
}()
