package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// EtcdBenchmark is one run of one workload against one etcd cluster. It runs
// once, always reaches the condition Finished, and keeps its result in status.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=eb,categories=etcdbench
// +kubebuilder:printcolumn:name="Workload",type=string,JSONPath=`.status.resolved.workload.type`,description="What one request does"
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.display.target`,description="Where the load goes"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Finished")].reason`,description="Stage of the run, or how it ended"
// +kubebuilder:printcolumn:name="Passed",type=string,JSONPath=`.status.conditions[?(@.type=="Passed")].status`,description="Whether all objectives were met; Unknown if they could not be judged"
// +kubebuilder:printcolumn:name="Throughput",type=string,JSONPath=`.status.display.throughput`,description="Successful requests per second in the measured window"
// +kubebuilder:printcolumn:name="P99",type=string,JSONPath=`.status.display.p99`,description="99th percentile of latency"
// +kubebuilder:printcolumn:name="Errors",type=string,JSONPath=`.status.display.errors`,description="Failed requests"
// +kubebuilder:printcolumn:name="Pods",type=string,JSONPath=`.status.display.pods`,description="Client pods that reported, of those wanted"
// +kubebuilder:printcolumn:name="Load",type=string,priority=1,JSONPath=`.status.display.load`,description="Connections and clients, over all pods"
// +kubebuilder:printcolumn:name="Rate",type=string,priority=1,JSONPath=`.status.display.rate`,description="The offered rate of an open loop"
// +kubebuilder:printcolumn:name="P50",type=string,priority=1,JSONPath=`.status.display.p50`,description="Median of latency"
// +kubebuilder:printcolumn:name="Members",type=string,priority=1,JSONPath=`.status.display.members`,description="Members of the target, and which of them received the load"
// +kubebuilder:printcolumn:name="Client",type=string,priority=1,JSONPath=`.status.summary.validity.verdict`,description="Whether the numbers are those of the target or of the client"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52",message="metadata.name must have at most 52 characters, so that the names of the run's pods stay valid host names: shorten it"
type EtcdBenchmark struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what to run. It is immutable but for stop and
	// ttlSecondsAfterFinished: a new run is a new object.
	//
	// +kubebuilder:validation:XValidation:rule="self.target == oldSelf.target",message="spec.target is immutable: create a new EtcdBenchmark for a new run",fieldPath=".target"
	// +kubebuilder:validation:XValidation:rule="has(self.profile) == has(oldSelf.profile) && (!has(self.profile) || self.profile == oldSelf.profile)",message="spec.profile is immutable: create a new EtcdBenchmark for a new run",fieldPath=".profile"
	// +kubebuilder:validation:XValidation:rule="has(self.workload) == has(oldSelf.workload) && (!has(self.workload) || self.workload == oldSelf.workload)",message="spec.workload is immutable: create a new EtcdBenchmark for a new run",fieldPath=".workload"
	// +kubebuilder:validation:XValidation:rule="has(self.load) == has(oldSelf.load) && (!has(self.load) || self.load == oldSelf.load)",message="spec.load is immutable: create a new EtcdBenchmark for a new run",fieldPath=".load"
	// +kubebuilder:validation:XValidation:rule="has(self.disturbances) == has(oldSelf.disturbances) && (!has(self.disturbances) || self.disturbances == oldSelf.disturbances)",message="spec.disturbances is immutable: create a new EtcdBenchmark for a new run",fieldPath=".disturbances"
	// +kubebuilder:validation:XValidation:rule="has(self.objectives) == has(oldSelf.objectives) && (!has(self.objectives) || self.objectives == oldSelf.objectives)",message="spec.objectives is immutable: create a new EtcdBenchmark for a new run",fieldPath=".objectives"
	// +kubebuilder:validation:XValidation:rule="has(self.guard) == has(oldSelf.guard) && (!has(self.guard) || self.guard == oldSelf.guard)",message="spec.guard is immutable: create a new EtcdBenchmark for a new run",fieldPath=".guard"
	// +kubebuilder:validation:XValidation:rule="has(self.pod) == has(oldSelf.pod) && (!has(self.pod) || self.pod == oldSelf.pod)",message="spec.pod is immutable: create a new EtcdBenchmark for a new run",fieldPath=".pod"
	// +kubebuilder:validation:XValidation:rule="has(self.onPodLost) == has(oldSelf.onPodLost) && (!has(self.onPodLost) || self.onPodLost == oldSelf.onPodLost)",message="spec.onPodLost is immutable: create a new EtcdBenchmark for a new run",fieldPath=".onPodLost"
	// +kubebuilder:validation:XValidation:rule="self.schedulingTimeoutSeconds == oldSelf.schedulingTimeoutSeconds",message="spec.schedulingTimeoutSeconds is immutable: create a new EtcdBenchmark for a new run",fieldPath=".schedulingTimeoutSeconds"
	// +kubebuilder:validation:XValidation:rule="self.timeoutSeconds == oldSelf.timeoutSeconds",message="spec.timeoutSeconds is immutable: create a new EtcdBenchmark for a new run",fieldPath=".timeoutSeconds"
	// +kubebuilder:validation:XValidation:rule="!oldSelf.stop || self.stop",message="spec.stop can only go from false to true: create a new EtcdBenchmark to run again",fieldPath=".stop"
	// +required
	Spec EtcdBenchmarkSpec `json:"spec"`

	// status is the run's story and its result, written by the operator.
	//
	// +optional
	// +kubebuilder:default={conditions:{{type:"Finished",status:"False",reason:"Pending",message:"The operator has not seen this run yet.",lastTransitionTime:"1970-01-01T00:00:00Z"},{type:"Reconciling",status:"True",reason:"Pending",message:"The operator has not seen this run yet.",lastTransitionTime:"1970-01-01T00:00:00Z"}}}
	Status EtcdBenchmarkStatus `json:"status,omitzero"`
}

// EtcdBenchmarkList is a list of EtcdBenchmarks.
//
// +kubebuilder:object:root=true
type EtcdBenchmarkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EtcdBenchmark `json:"items"`
}

// EtcdBenchmarkSpec says which store to load, with what, how hard and for how
// long, and what the result must reach. It may be embedded in other objects: the
// rules of what may change in a run are at EtcdBenchmark.
//
// +kubebuilder:validation:XValidation:rule="has(self.profile) ? !has(self.workload) && !has(self.load) && !has(self.objectives) : has(self.workload) && has(self.load)",message="spec.workload and spec.load must both be set, or spec.profile without workload, load and objectives, for all of which it stands"
// +kubebuilder:validation:XValidation:rule="!has(self.profile) || self.timeoutSeconds > 60",message="spec.timeoutSeconds must be greater than 60, for which every profile loads the target: raise it",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.profile) || self.target.datastore == 'Etcd'",message="spec.profile is a load for etcd: remove it for another target.datastore, and write workload, load and objectives",fieldPath=".profile"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.durationSeconds) || self.load.durationSeconds + self.load.warmupSeconds < self.timeoutSeconds",message="spec.timeoutSeconds must be greater than load.warmupSeconds and load.durationSeconds together, or the run could never complete: raise it",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.requests) || !has(self.load.rate) || !has(self.load.rate.perSecond) || self.load.rate.perSecond < 1 || self.load.requests / self.load.rate.perSecond + self.load.warmupSeconds < self.timeoutSeconds",message="spec.timeoutSeconds must be greater than load.requests divided by load.rate.perSecond, plus load.warmupSeconds, or the run could never complete: raise it",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.rate) || !has(self.load.rate.stages) || self.load.rate.stages.map(s, s.seconds).sum() + self.load.warmupSeconds < self.timeoutSeconds",message="spec.timeoutSeconds must be greater than load.warmupSeconds and the seconds of load.rate.stages together, or the run could never complete: raise it",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.load.transport != 'Fast' || self.workload.type in ['Put', 'Delete', 'Range', 'Mixed', 'Txn', 'Lease']",message="load.transport Fast carries no workload of this type: write Client",fieldPath=".load.transport"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.load.transport != 'Fast' || !has(self.workload.lease) || self.workload.lease.operation != 'KeepAlive'",message="load.transport Fast carries no lease.operation KeepAlive, which needs a stream: write Client",fieldPath=".load.transport"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.load.transport != 'Fast' || !has(self.workload.mixed) || !has(self.workload.mixed.inTransaction) || !self.workload.mixed.inTransaction",message="load.transport Fast wraps no requests in transactions: write Client, or drop mixed.inTransaction",fieldPath=".load.transport"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.load.transport != 'Fast' || !has(self.workload.range) || self.workload.range.delivery == 'Whole'",message="load.transport Fast carries no range.delivery of Pages or Stream: write Client",fieldPath=".load.transport"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.delete) || has(self.load.requests) && self.load.requests <= self.workload.delete.keys.count",message="load.requests must be set for workload.type Delete, and must not be greater than delete.keys.count: each request deletes another key; raise keys.count or lower requests",fieldPath=".load.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.delete) || self.load.warmupSeconds == 0",message="load.warmupSeconds must be 0 for workload.type Delete: a warm-up would delete keys that are to be measured, and the writing of the keys warms the connections up",fieldPath=".load.warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.lease) || self.workload.lease.operation == 'KeepAlive' || (has(self.load.requests) && self.load.requests <= 1000000)",message="a Lease workload that grants or revokes needs load.requests, at most 1000000: each request leaves or uses up a lease; write it instead of load.durationSeconds",fieldPath=".load.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.lease) || self.workload.lease.operation != 'Revoke' || self.load.warmupSeconds == 0",message="load.warmupSeconds must be 0 where workload.lease.operation is Revoke: a warm-up would use up the leases to revoke",fieldPath=".load.warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.lease) || self.workload.lease.operation != 'Grant' || self.load.warmupSeconds == 0 || !has(self.load.requests) || has(self.load.rate) && has(self.load.rate.perSecond) && self.load.requests + self.load.rate.perSecond * self.load.warmupSeconds <= 1000000",message="a warm-up that grants leases needs load.rate.perSecond, and together with load.requests it may grant at most 1000000, since all stay until the run ends: set load.warmupSeconds to 0, or write load.rate.perSecond and lower it, warmupSeconds or requests",fieldPath=".load.warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.lock) || self.workload.lock.names <= self.load.clients",message="workload.lock.names must not be greater than load.clients: each client contends for one lock, so the others would have no client; lower names or raise clients",fieldPath=".workload.lock.names"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.lock) || has(self.load.rate) || self.workload.lock.names < 1 || (self.load.clients - 1) / self.workload.lock.names * self.workload.lock.holdMilliseconds < self.load.requestTimeoutSeconds * 1000",message="load.clients divided by workload.lock.names clients contend for each lock, and the last of them waits for lock.holdMilliseconds of all others: that is not less than load.requestTimeoutSeconds, so requests would time out in the queue; lower clients or holdMilliseconds, or raise names or requestTimeoutSeconds",fieldPath=".load.clients"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.election) || self.workload.election.names <= self.load.clients",message="workload.election.names must not be greater than load.clients: each client stands in one election, so the others would have no client; lower names or raise clients",fieldPath=".workload.election.names"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.election) || has(self.load.rate) || self.workload.election.names < 1 || (self.load.clients - 1) / self.workload.election.names * self.workload.election.leadMilliseconds < self.load.requestTimeoutSeconds * 1000",message="load.clients divided by workload.election.names clients stand in each election, and the last of them waits for election.leadMilliseconds of all others: that is not less than load.requestTimeoutSeconds, so requests would time out in the queue; lower clients or leadMilliseconds, or raise names or requestTimeoutSeconds",fieldPath=".load.clients"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watch) || self.workload.watch.streams >= self.load.pods",message="workload.watch.streams must not be smaller than load.pods: each pod needs a stream to see its own puts; raise it, or lower pods",fieldPath=".workload.watch.streams"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watch) || !has(self.workload.watch.connections) || self.workload.watch.connections == 0 || self.workload.watch.connections >= self.load.pods",message="workload.watch.connections must be 0, or must not be smaller than load.pods: each pod needs one for its own streams; raise it, or lower pods",fieldPath=".workload.watch.connections"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watchGet) || self.workload.watchGet.streams >= self.load.pods",message="workload.watchGet.streams must not be smaller than load.pods: each pod needs a stream for its own watchers; raise it, or lower pods",fieldPath=".workload.watchGet.streams"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watchGet) || !has(self.workload.watchGet.connections) || self.workload.watchGet.connections == 0 || self.workload.watchGet.connections >= self.load.pods",message="workload.watchGet.connections must be 0, or must not be smaller than load.pods: each pod needs one for its own streams; raise it, or lower pods",fieldPath=".workload.watchGet.connections"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watchGet) || self.workload.watchGet.keys.count >= self.load.pods",message="workload.watchGet.keys.count must not be smaller than load.pods: each pod needs a key for the history that its watchers read; raise it, or lower pods",fieldPath=".workload.watchGet.keys.count"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.kubernetes) || self.load.warmupSeconds == 0",message="load.warmupSeconds must be 0 for workload.type Kubernetes: a warm-up would create and delete the pods of the window, and the writing of the objects warms the connections up",fieldPath=".load.warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.kubernetes) || self.load.pods <= 25",message="load.pods must be at most 25 for workload.type Kubernetes: each client pod is an API server that creates, changes and deletes pods of its own, of which more would have too few; lower it",fieldPath=".load.pods"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.kubernetes) || self.load.clients <= {'Small': 50, 'Medium': 250, 'Large': 1000}[self.workload.kubernetes.profile]",message="load.clients must be at most the number of nodes of workload.kubernetes.profile (Small 50, Medium 250, Large 1000): four of five requests renew the lease of a node, and no node renews it twice at once; lower it, or choose a larger profile",fieldPath=".load.clients"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || has(self.load.rate) || !has(self.objectives) || !self.objectives.exists(o, o.type == 'AchievedRate')",message="an objective of type AchievedRate needs load.rate: a closed loop offers no rate of which a share could be reached",fieldPath=".objectives"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.workload) || !has(self.objectives) || self.objectives.all(o, !has(o.latency) || o.latency.operation in {'Put': ['Put'], 'Range': ['Range'], 'Mixed': (has(self.workload.mixed) && self.workload.mixed.readPercent < 100 ? ['Put'] : []) + (has(self.workload.mixed) && self.workload.mixed.readPercent > 0 ? ['Range'] : []), 'Delete': ['Delete'], 'Txn': [has(self.workload.txn) && self.workload.txn.mode == 'CompareAndSwap' ? 'CompareAndSwap' : 'Txn'], 'STM': ['STM'], 'Lock': ['LockAcquire', 'LockRelease', 'LockHandOff'], 'Election': ['ElectionCampaign', 'ElectionResign', 'ElectionHandOff'], 'Lease': [has(self.workload.lease) ? 'Lease' + self.workload.lease.operation : 'Lease'], 'Watch': ['Put', 'WatchEvent', 'WatchDelivery'], 'WatchGet': ['Range'], 'Kubernetes': ['OptimisticPut', 'OptimisticDelete', 'ListBy500', 'ListBy10000', 'WatchEvent', 'WatchDelivery']}[self.workload.type])",optionalOldSelf=true,message="latency.operation of an objective must be one that workload.type measures, or it could never be judged. Put, Range, Delete and STM: the same word; Mixed: Put and Range, as readPercent allows; Txn: Txn, or CompareAndSwap where that is txn.mode; Lock: LockAcquire, LockRelease, LockHandOff; Election: ElectionCampaign, ElectionResign, ElectionHandOff; Lease: LeaseGrant, LeaseKeepAlive or LeaseRevoke, as lease.operation says; Watch: Put, WatchEvent, WatchDelivery; WatchGet: Range; Kubernetes: OptimisticPut, OptimisticDelete, ListBy500, ListBy10000, WatchEvent, WatchDelivery",fieldPath=".objectives"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.target.tls) && !has(self.target.auth)",message="target.tls and target.auth must not be set for target.datastore ZooKeeper, which is loaded in plain text and without a user: remove them",fieldPath=".target"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || self.target.members == 'All'",message="target.members must be All for target.datastore ZooKeeper, whose servers all receive the load",fieldPath=".target.members"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.target.keyPrefix) || self.target.keyPrefix.matches('^/?([A-Za-z0-9_-][A-Za-z0-9._-]*/)+$') && !self.target.keyPrefix.matches('^/?zookeeper/')",message="target.keyPrefix must, for target.datastore ZooKeeper, be made of names of letters, digits, - and _, with dots inside, each with a slash after it, and must not lie below zookeeper/, where the servers keep their own",fieldPath=".target.keyPrefix"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.workload) || has(self.workload.put) && self.workload.put.keys.distribution == 'Sequential'",message="target.datastore ZooKeeper can be loaded with workload.type Put and put.keys.distribution Sequential alone, so that each request creates another znode: write these, or choose Etcd",fieldPath=".workload"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.workload) || !has(self.workload.put) || self.workload.put.keys.sizeBytes >= 4 && self.workload.put.keys.count <= 10000000 && self.workload.put.values.sizeBytes <= 1000000",message="target.datastore ZooKeeper takes put.keys.sizeBytes of 4 or more, put.keys.count up to 10000000, as it keeps every znode in memory, and put.values.sizeBytes up to 1000000, as a server takes no larger request: change them",fieldPath=".workload.put"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.load) || !has(self.workload) || !has(self.workload.put) || has(self.load.requests) && self.load.requests <= self.workload.put.keys.count && self.load.warmupSeconds == 0",message="target.datastore ZooKeeper needs load.requests, at most put.keys.count, in place of load.durationSeconds, and load.warmupSeconds 0: a znode can be created only once",fieldPath=".load.requests"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.load) || self.load.transport == 'Client'",message="load.transport must be Client for target.datastore ZooKeeper, which Fast does not speak to",fieldPath=".load.transport"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.disturbances) || self.disturbances.size() == 0",message="spec.disturbances cannot be made in target.datastore ZooKeeper: remove them",fieldPath=".disturbances"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.guard) || !has(self.guard.stopOn) || !has(self.guard.stopOn.databaseSize) && !has(self.guard.stopOn.walFsync)",message="guard.stopOn.databaseSize and walFsync would never fire with target.datastore ZooKeeper, whose servers are not asked for them: remove them",fieldPath=".guard.stopOn"
// +kubebuilder:validation:XValidation:rule="self.target.datastore != 'ZooKeeper' || !has(self.objectives) || self.objectives.all(o, o.type in ['Latency', 'Throughput', 'ErrorRatio', 'AchievedRate', 'StartSkew', 'LeaderChanges'])",message="objectives for target.datastore ZooKeeper can be of the types Latency, Throughput, ErrorRatio, AchievedRate, StartSkew and LeaderChanges: its servers are not asked for what the others judge; remove them",fieldPath=".objectives"
// +kubebuilder:validation:XValidation:rule="!has(self.disturbances) || has(self.guard) && self.guard.allowStoreWide || !self.disturbances.exists(d, d.type in ['Compact', 'Defragment'])",message="spec.disturbances of type Compact and Defragment concern everybody who uses the store, not only the keys of the run: remove them, or set spec.guard.allowStoreWide if the whole store may be disturbed",fieldPath=".disturbances"
// +kubebuilder:validation:XValidation:rule="!has(self.disturbances) || !has(self.workload) || !has(self.workload.watchGet) || !self.disturbances.exists(d, d.type == 'Compact')",message="spec.disturbances of type Compact would remove the history which the watchers of WatchGet read over and over: remove it, or choose another workload.type",fieldPath=".disturbances"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.disturbances) || self.disturbances.size() == 0 || (has(self.profile) ? 60 : !has(self.load) ? 90001 : has(self.load.durationSeconds) ? self.load.durationSeconds : has(self.load.rate) && has(self.load.rate.stages) ? self.load.rate.stages.map(s, s.seconds).sum() : 90001) > self.disturbances.map(d, d.everySeconds + (has(d.leaseExpiry) ? d.leaseExpiry.ttlSeconds : 0)).max()",optionalOldSelf=true,message="spec.disturbances: everySeconds, and leaseExpiry.ttlSeconds where there is one, must be smaller than the measured window (load.durationSeconds, the seconds of load.rate.stages together, or 60 for spec.profile), or there would be no disturbance in it: lower everySeconds or ttlSeconds, or lengthen the window",fieldPath=".disturbances"
type EtcdBenchmarkSpec struct {
	// target is the cluster to load.
	//
	// +required
	Target Target `json:"target"`

	// profile is Small, Medium, Large or XLarge: the load and the limits of the
	// etcdctl check perf of that name. It stands for workload, load and
	// objectives, none of which may be set beside it; status.resolved has what
	// they are.
	//
	// +optional
	Profile Profile `json:"profile,omitempty"`

	// workload is what one request does. Required without profile.
	//
	// +optional
	Workload spec.Workload `json:"workload,omitzero"`

	// load is how many requests are sent, by how many clients, how fast.
	// Required without profile.
	//
	// +optional
	Load spec.Load `json:"load,omitzero"`

	// disturbances happen in intervals beside the load, in the measured window.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Disturbances []spec.Disturbance `json:"disturbances,omitempty"`

	// objectives are what the result must reach. With none, the condition
	// Passed is absent.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Objectives []Objective `json:"objectives,omitempty"`

	// guard keeps the run from harming its target. It holds, with its defaults,
	// where it is absent, too.
	//
	// +optional
	Guard *spec.Guard `json:"guard,omitempty"`

	// pod sets where the client pods run and what they may use. It has no
	// field that could raise a user's rights.
	//
	// +optional
	Pod *PodSettings `json:"pod,omitempty"`

	// onPodLost is what becomes of the run if a client pod is lost after the
	// start: evicted, killed for want of memory, crashed, or gone with its node.
	// Fail ends the run as PodFailed; Continue lets the others go on, and the run
	// finishes as PartlyCompleted. Either way the pods that live report what they
	// measured, the result is partial, and the run cannot pass. A pod that says
	// itself why it cannot go on ends the run. Client pod 0 alone looks at the
	// target and makes the disturbances: its loss ends the run where
	// spec.guard.stopOn has rules about the target, or spec.disturbances are set;
	// otherwise the run goes on, and a warning says that the
	// members and changes of the target were not observed from then on. Default Fail.
	//
	// +optional
	// +kubebuilder:default=Fail
	OnPodLost PodLossPolicy `json:"onPodLost,omitempty"`

	// schedulingTimeoutSeconds is how long, in seconds, the client pods may
	// take from the Job's creation until all are ready to start. Clusters that
	// add nodes on demand need minutes. Runs that queue for the same addresses
	// wait for as long. Default 300.
	//
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	SchedulingTimeoutSeconds int32 `json:"schedulingTimeoutSeconds,omitempty"`

	// timeoutSeconds bounds the whole run, in seconds, from when it left the
	// queue of its target. A run that reaches it is ended, keeps its numbers, and
	// finishes as TimedOut; one that has only keys to delete any more finishes as
	// Completed, and condition Cleaned tells how the deletion went. Default 600.
	//
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// ttlSecondsAfterFinished deletes the object this many seconds after it
	// finished and was cleaned. Absent: it is kept. Do not set it on objects
	// that a GitOps tool applies: the tool would create, and so run, them for
	// ever.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// stop ends the run cleanly when it becomes true: what was measured until
	// then is kept. It cannot become false again. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	Stop bool `json:"stop"`
}
