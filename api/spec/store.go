package spec

import (
	"maps"
	"math"
	"regexp"
	"slices"
)

// Datastore is a store that can be loaded.
//
// +kubebuilder:validation:Enum=Etcd;Kine;ZooKeeper;Consul;Disk
type Datastore string

// The stores.
const (
	// Etcd is etcd 3.4 or newer.
	Etcd Datastore = "Etcd"
	// Kine is kine, which serves the API servers of K3s from a SQL database.
	Kine Datastore = "Kine"
	// ZooKeeper is ZooKeeper 3.5 or newer.
	ZooKeeper Datastore = "ZooKeeper"
	// Consul is the key-value store of Consul 1.10 or newer.
	Consul Datastore = "Consul"
	// Disk is a folder of each client pod, with a write-ahead log of etcd.
	Disk Datastore = "Disk"
)

// DefaultDatastore is the store of a target that does not name one.
const DefaultDatastore = Etcd

// Transport is the client that sends requests to the store.
//
// +kubebuilder:validation:Enum=Client;Fast;JSON;V2
type Transport string

// The transports.
const (
	// TransportClient is the store's usual Go library, as applications use it.
	TransportClient Transport = "Client"
	// TransportFast is this project's own client. It needs much less processor
	// time, so the client is less likely to limit the result.
	TransportFast Transport = "Fast"
	// TransportJSON is HTTP/1.1 and JSON, over the gRPC gateway of each member.
	TransportJSON Transport = "JSON"
	// TransportV2 is HTTP/1.1 and etcd's v2 API, a store of its own in memory.
	TransportV2 Transport = "V2"
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
	// RPCV2Get and RPCV2Put are those of the v2 API.
	RPCV2Get RPC = "V2Get"
	RPCV2Put RPC = "V2Put"
)

// The requests to ZooKeeper, by the names in its log.
const (
	RPCCreateSession RPC = "createSession"
	// RPCResumeSession resumes a session over another connection.
	RPCResumeSession RPC = "resumeSession"
	RPCCloseSession  RPC = "closeSession"
	RPCCreate        RPC = "create"
	RPCSetData       RPC = "setData"
	RPCDelete        RPC = "delete"
	RPCAuth          RPC = "auth"
	RPCMulti         RPC = "multi"
	RPCExists        RPC = "exists"
	RPCGetData       RPC = "getData"
	RPCSync          RPC = "sync"
	RPCGetChildren   RPC = "getChildren2"
	// RPCServer is the command that returns a server's health.
	RPCServer RPC = "srvr"
)

// The requests to Consul, by their paths. KVGet is also a listing.
const (
	RPCKVGet          RPC = "KVGet"
	RPCKVPut          RPC = "KVPut"
	RPCKVDelete       RPC = "KVDelete"
	RPCSessionCreate  RPC = "SessionCreate"
	RPCSessionRenew   RPC = "SessionRenew"
	RPCSessionDestroy RPC = "SessionDestroy"
	RPCSessionList    RPC = "SessionList"
	RPCStatusLeader   RPC = "StatusLeader"
	RPCStatusPeers    RPC = "StatusPeers"
	RPCAgentSelf      RPC = "AgentSelf"
	RPCAgentMetrics   RPC = "AgentMetrics"
)

// RPCAppend is an entry that is written to a log and flushed.
const RPCAppend RPC = "Append"

// The keys of the Secret of spec.target.auth.
const (
	UsernameFile = "username"
	PasswordFile = "password"
	TokenFile    = "token"
)

// Store is the row of a store: what a run on it may use. What a row does not list is refused. Checks of plans and of
// objects read the rows; a test compares the rules of admission and the documentation with them.
type Store struct {
	// Name is the store's name in messages.
	Name string
	// RPCs are the requests that a run may send.
	RPCs       []RPC
	Transports []Transport
	Workloads  []Variant
	// Consistencies are those that a workload with reads can ask for.
	Consistencies []Consistency
	// Keys limits the keys of workloads that choose keys.
	Keys KeyLimits
	// KeyPrefix limits the key prefix.
	KeyPrefix PrefixLimits
	Members   []MemberSelection
	// TLS: the driver supports it. Addresses: spec.target.endpoints may have several. MemberIndex: one address alone can get
	// the load. Multiplexed: a connection carries many requests at a time. Otherwise it carries one, and load.clients is at
	// most load.connections. SessionTimeout: a connection has a session, and load.sessionTimeoutSeconds applies.
	TLS, Addresses, MemberIndex, Multiplexed, SessionTimeout bool
	// CutTimes: the members cut durations in their own metrics to whole milliseconds. InMemory: they keep all values in memory.
	CutTimes, InMemory bool
	// Folder: the target is a folder of each client pod, which no other run sees. There are no addresses, no keys, no lock, and
	// nothing to clean up.
	Folder bool
	// Auth are the keys that the Secret of spec.target.auth must have; without any, spec.target.auth is refused.
	Auth []string
	// LeaseTTL limits lease.ttlSeconds, and MaxLeases the leases that the requests of a run grant, renew or revoke.
	LeaseTTL     TTLLimits
	MaxLeases    int64
	Contest      ContestLimits
	Disturbances []DisturbanceType
	// StopRules are those of guard.stopOn. Alarm and Quota are on by default, and have no effect on a store that reports
	// neither.
	StopRules  []GuardRule
	Objectives []ObjectiveType
}

// KeyLimits are the keys that a store accepts of workloads that choose keys. The zero value accepts none.
type KeyLimits struct {
	Distributions []Distribution
	MinSizeBytes  int32
	MaxCount      int64
	MaxValueBytes int32
	// Rewrites: a run that preloads no keys may write a key more than once. Otherwise its keys are Sequential, all requests
	// together write at most keys.count keys, and there is no warm-up.
	Rewrites bool
	// Ranges: a request can read several keys, or only their names or their number. Otherwise it reads one key.
	Ranges bool
	Txn    TxnLimits
}

// TxnLimits are the transactions of puts that a store accepts. The zero value accepts none.
type TxnLimits struct {
	MaxPuts int32
	// MaxBytes bounds a transaction, in which each put has TxnPutBytes beside its key and its value. Base64: a value is sent in
	// base64.
	MaxBytes int64
	Base64   bool
}

// TxnPutBytes is an upper bound of what a put of a transaction has beside the number of its key and its value: the key prefix,
// and what the protocol adds.
const TxnPutBytes = 384

// Accept reports whether a transaction of puts is within the limits.
func (l TxnLimits) Accept(puts int, k Keys, v Values) bool {
	value := int64(v.SizeBytes)
	if l.Base64 {
		value = value * 4 / 3
	}
	return puts <= int(l.MaxPuts) && int64(puts)*(int64(k.SizeBytes)+value+TxnPutBytes) <= l.MaxBytes
}

// ContestLimits are the names for which clients may contend, and the clients on one connection and for one name. The zero value
// accepts none.
type ContestLimits struct{ MaxNames, ClientsPerConnection, ClientsPerName int32 }

// Accept reports whether a contest is within the limits.
func (l ContestLimits) Accept(names, clients, connections int) bool {
	return names <= int(l.MaxNames) && clients <= int(l.ClientsPerConnection)*connections && clients <= int(l.ClientsPerName)*names
}

// anyContest is every contest that the API accepts.
var anyContest = ContestLimits{MaxNames: 1_000_000, ClientsPerConnection: 1_000_000, ClientsPerName: 1_000_000}

// TTLLimits are the times to live of leases that a store accepts, in seconds. The zero value accepts none.
type TTLLimits struct{ Least, Most int64 }

// PrefixLimits are the key prefixes that a store accepts: they match the regular expression Match and not Except. The
// zero value accepts none.
type PrefixLimits struct{ Match, Except string }

// anyPrefix is every prefix that the API accepts.
var anyPrefix = PrefixLimits{Match: `^`, Except: `^$`}

// Accept reports whether a prefix is within the limits.
func (l PrefixLimits) Accept(prefix string) bool {
	matches := func(expression string) bool {
		matched, err := regexp.MatchString(expression, prefix)
		return err == nil && matched
	}
	return l.Match != "" && matches(l.Match) && !matches(l.Except)
}

// stores has every store.
var stores = map[Datastore]Store{
	Etcd: {
		Name: "etcd",
		RPCs: []RPC{
			RPCPut, RPCRange, RPCDeleteRange, RPCTxn, RPCStatus, RPCMemberList, RPCAlarm, RPCCompact, RPCDefragment,
			RPCRangeStream, RPCLeaseGrant, RPCLeaseRevoke, RPCLeaseKeepAlive, RPCLeaseLeases,
			RPCLeaseTimeToLive, RPCWatch, RPCAuthenticate, RPCLock, RPCUnlock, RPCV2Get, RPCV2Put,
		},
		Transports: []Transport{TransportClient, TransportFast, TransportJSON, TransportV2},
		Workloads:  ofMembersOfEtcd(), Consistencies: []Consistency{Linearizable, Serializable},
		Keys: KeyLimits{
			Distributions: []Distribution{Sequential, Uniform, ZipfLaw, HotSpots},
			MinSizeBytes:  1, MaxCount: MaxKeys, MaxValueBytes: MaxRequestBytes, Rewrites: true, Ranges: true,
			// The API's own rules bound the bytes.
			Txn: TxnLimits{MaxPuts: MaxTxnOperations, MaxBytes: math.MaxInt64},
		},
		LeaseTTL: TTLLimits{1, MaxLeaseTTL}, MaxLeases: MaxLeases, Contest: anyContest,
		KeyPrefix: anyPrefix,
		Members:   []MemberSelection{MembersAll, MembersLeader, MembersFollowers},
		TLS:       true, Auth: []string{UsernameFile, PasswordFile}, Addresses: true, MemberIndex: true, Multiplexed: true,
		Disturbances: DisturbanceTypes(),
		StopRules:    GuardRules(),
		Objectives:   append(ofClients(), ofMembers()...),
	},
	Kine: {
		Name:       "kine",
		RPCs:       []RPC{RPCRange, RPCTxn, RPCStatus, RPCLeaseGrant, RPCWatch},
		Transports: []Transport{TransportClient},
		Workloads:  []Variant{VariantKubernetes},
		KeyPrefix:  anyPrefix,
		Members:    []MemberSelection{MembersAll},
		TLS:        true, Multiplexed: true,
		StopRules:  []GuardRule{GuardAlarm, GuardQuota, GuardErrorRatio},
		Objectives: ofClients(),
	},
	ZooKeeper: {
		Name: "ZooKeeper",
		RPCs: []RPC{
			RPCCreateSession, RPCResumeSession, RPCCloseSession, RPCCreate, RPCSetData, RPCDelete, RPCMulti, RPCExists, RPCGetData, RPCSync, RPCGetChildren,
			RPCAuth, RPCServer,
		},
		Transports:    []Transport{TransportClient},
		Workloads:     []Variant{VariantPut, VariantRangeWhole, VariantMixed, VariantDelete, VariantTxnPuts, VariantTxnCompareAndSwap, VariantLock, VariantElection, VariantFetchFragmented, VariantFetchBlob},
		Consistencies: []Consistency{Serializable, SyncRead},
		// A server keeps every znode in memory, and rejects requests above 1 MiB. A znode can be created only once.
		Keys: KeyLimits{
			Distributions: []Distribution{Sequential, Uniform, ZipfLaw, HotSpots},
			MinSizeBytes:  4, MaxCount: 10_000_000, MaxValueBytes: 1_000_000,
			// A transaction above a server's jute.maxbuffer breaks the ensemble for good.
			Txn: TxnLimits{MaxPuts: MaxTxnOperations, MaxBytes: 256 << 10},
		},
		// A session whose ephemeral znodes have paths of more than jute.maxbuffer together breaks the ensemble for good, too. Within
		// these limits they have less than 64 KiB. A folder holds the names. A contender lists all others for its name.
		Contest:   ContestLimits{MaxNames: 1_000, ClientsPerConnection: 200, ClientsPerName: 10_000},
		KeyPrefix: PrefixLimits{Match: `^/?([A-Za-z0-9_-][A-Za-z0-9._-]*/)+$`, Except: `^/?zookeeper/`},
		Members:   []MemberSelection{MembersAll},
		TLS:       true, Auth: []string{UsernameFile, PasswordFile}, Addresses: true, MemberIndex: true, Multiplexed: true, SessionTimeout: true, CutTimes: true, InMemory: true,
		StopRules:  []GuardRule{GuardAlarm, GuardQuota, GuardErrorRatio, GuardLeaderChange},
		Objectives: append(ofClients(), ObjectiveLeaderChanges),
	},
	Consul: {
		Name: "Consul",
		RPCs: []RPC{
			RPCKVGet, RPCKVPut, RPCKVDelete, RPCTxn, RPCSessionCreate, RPCSessionRenew, RPCSessionDestroy, RPCSessionList, RPCStatusLeader, RPCStatusPeers,
			RPCAgentSelf, RPCAgentMetrics,
		},
		Transports: []Transport{TransportClient},
		Workloads: append(fetches, VariantPut, VariantRangeWhole, VariantMixed, VariantDelete, VariantTxnPuts, VariantTxnCompareAndSwap,
			VariantLock, VariantElection, VariantLeaseGrant, VariantLeaseKeepAlive, VariantLeaseRevoke),
		Consistencies: []Consistency{Linearizable, Leader, Serializable},
		// A server keeps every key in memory, and rejects values above 512 KiB. A transaction has one operation beside the puts.
		Keys: KeyLimits{
			Distributions: []Distribution{Sequential, Uniform, ZipfLaw, HotSpots},
			MinSizeBytes:  1, MaxCount: 10_000_000, MaxValueBytes: 512 << 10, Rewrites: true,
			Txn: TxnLimits{MaxPuts: 63, MaxBytes: 512 << 10, Base64: true},
		},
		// Leases are sessions. A server returns all sessions in one response, within seconds.
		LeaseTTL: TTLLimits{10, 86_400}, MaxLeases: 100_000, Contest: anyContest,
		KeyPrefix: PrefixLimits{Match: `^([A-Za-z0-9_-][A-Za-z0-9._-]*/)+$`, Except: `^(vault|nomad)/`},
		Members:   []MemberSelection{MembersAll},
		TLS:       true, Auth: []string{TokenFile}, Addresses: true, MemberIndex: true, InMemory: true,
		StopRules:  []GuardRule{GuardAlarm, GuardQuota, GuardErrorRatio, GuardLeaderChange},
		Objectives: append(ofClients(), ObjectiveLeaderChanges),
	},
	Disk: {
		Name:       "the disk",
		RPCs:       []RPC{RPCAppend},
		Transports: []Transport{TransportClient},
		Workloads:  []Variant{VariantAppend},
		Members:    []MemberSelection{MembersAll},
		Folder:     true,
		StopRules:  []GuardRule{GuardAlarm, GuardQuota, GuardErrorRatio},
		Objectives: ofClients(),
	},
}

// Store returns the row of the store. ok is false for an unknown store, whose row is empty.
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
