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
// +kubebuilder:printcolumn:name="Workload",type=string,JSONPath=`.status.resolved.workload.type`,description="Type of the workload"
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.display.target`,description="Where the load goes"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Finished")].reason`,description="Stage of the run, or the reason for its end"
// +kubebuilder:printcolumn:name="Passed",type=string,JSONPath=`.status.conditions[?(@.type=="Passed")].status`,description="Whether all objectives were met; Unknown if they could not be judged"
// +kubebuilder:printcolumn:name="Throughput",type=string,JSONPath=`.status.display.throughput`,description="Successful requests per second in the measured window"
// +kubebuilder:printcolumn:name="P99",type=string,JSONPath=`.status.display.p99`,description="99th percentile of latency"
// +kubebuilder:printcolumn:name="Errors",type=string,JSONPath=`.status.display.errors`,description="Failed requests"
// +kubebuilder:printcolumn:name="Pods",type=string,JSONPath=`.status.display.pods`,description="Client pods that reported, of all"
// +kubebuilder:printcolumn:name="Load",type=string,priority=1,JSONPath=`.status.display.load`,description="Connections and clients, over all pods"
// +kubebuilder:printcolumn:name="Rate",type=string,priority=1,JSONPath=`.status.display.rate`,description="The offered rate of an open loop"
// +kubebuilder:printcolumn:name="P50",type=string,priority=1,JSONPath=`.status.display.p50`,description="Median of latency"
// +kubebuilder:printcolumn:name="Members",type=string,priority=1,JSONPath=`.status.display.members`,description="Members of the target, and which of them received the load"
// +kubebuilder:printcolumn:name="Client",type=string,priority=1,JSONPath=`.status.summary.validity.verdict`,description="Whether the client limited the result"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 52",message="metadata.name must have at most 52 characters, so that the names of the run's pods stay valid host names: shorten it"
type EtcdBenchmark struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what to run. Only stop and ttlSecondsAfterFinished can change
	// later: a new run is a new object.
	//
	// +kubebuilder:validation:XValidation:rule="self.target == oldSelf.target",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".target"
	// +kubebuilder:validation:XValidation:rule="has(self.profile) == has(oldSelf.profile) && (!has(self.profile) || self.profile == oldSelf.profile)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".profile"
	// +kubebuilder:validation:XValidation:rule="has(self.kubernetes) == has(oldSelf.kubernetes) && (!has(self.kubernetes) || self.kubernetes == oldSelf.kubernetes)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".kubernetes"
	// +kubebuilder:validation:XValidation:rule="has(self.workload) == has(oldSelf.workload) && (!has(self.workload) || self.workload == oldSelf.workload)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".workload"
	// +kubebuilder:validation:XValidation:rule="has(self.load) == has(oldSelf.load) && (!has(self.load) || self.load == oldSelf.load)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".load"
	// +kubebuilder:validation:XValidation:rule="has(self.disturbances) == has(oldSelf.disturbances) && (!has(self.disturbances) || self.disturbances == oldSelf.disturbances)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".disturbances"
	// +kubebuilder:validation:XValidation:rule="has(self.objectives) == has(oldSelf.objectives) && (!has(self.objectives) || self.objectives == oldSelf.objectives)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".objectives"
	// +kubebuilder:validation:XValidation:rule="has(self.guard) == has(oldSelf.guard) && (!has(self.guard) || self.guard == oldSelf.guard)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".guard"
	// +kubebuilder:validation:XValidation:rule="has(self.pod) == has(oldSelf.pod) && (!has(self.pod) || self.pod == oldSelf.pod)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".pod"
	// +kubebuilder:validation:XValidation:rule="has(self.onPodLost) == has(oldSelf.onPodLost) && (!has(self.onPodLost) || self.onPodLost == oldSelf.onPodLost)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".onPodLost"
	// +kubebuilder:validation:XValidation:rule="has(self.onObjectiveMissed) == has(oldSelf.onObjectiveMissed) && (!has(self.onObjectiveMissed) || self.onObjectiveMissed == oldSelf.onObjectiveMissed)",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".onObjectiveMissed"
	// +kubebuilder:validation:XValidation:rule="self.schedulingTimeoutSeconds == oldSelf.schedulingTimeoutSeconds",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".schedulingTimeoutSeconds"
	// +kubebuilder:validation:XValidation:rule="self.timeoutSeconds == oldSelf.timeoutSeconds",message="field is immutable: create a new EtcdBenchmark for a new run",fieldPath=".timeoutSeconds"
	// +kubebuilder:validation:XValidation:rule="!oldSelf.stop || self.stop",message="can only change from false to true: create a new EtcdBenchmark to run again",fieldPath=".stop"
	// +required
	Spec EtcdBenchmarkSpec `json:"spec"`

	// status is the progress and the result of the run, written by the operator.
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

// EtcdBenchmarkSpec says which store to load, with which requests, how fast
// and for how long, and what the result must reach. It may be embedded in
// other objects: the rules about changes of a run are at EtcdBenchmark. Rules
// about the target that an API server estimates as costly are here, so that
// target may be in a list of other objects.
//
// +kubebuilder:validation:XValidation:rule="!has(self.profile) || !has(self.workload) && !has(self.load) && !has(self.objectives)",message="cannot be combined with workload, load or objectives, which it sets: remove these, or remove profile",fieldPath=".profile"
// +kubebuilder:validation:XValidation:rule="!has(self.kubernetes) || !has(self.profile) && !has(self.workload) && !has(self.load) && !has(self.objectives)",message="cannot be combined with profile, nor with workload, load or objectives, which it sets: remove these, or remove kubernetes",fieldPath=".kubernetes"
// +kubebuilder:validation:XValidation:rule="has(self.profile) || has(self.kubernetes) || has(self.workload)",reason="FieldValueRequired",message="set workload and load, or set only profile or kubernetes",fieldPath=".workload"
// +kubebuilder:validation:XValidation:rule="has(self.profile) || has(self.kubernetes) || has(self.load)",reason="FieldValueRequired",message="set workload and load, or set only profile or kubernetes",fieldPath=".load"
// +kubebuilder:validation:XValidation:rule="!has(self.profile) && !has(self.kubernetes) || self.timeoutSeconds > 60",message="must be greater than 60: spec.profile and spec.kubernetes load the target for 60 s",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.profile) || self.target.datastore in ['Etcd', 'Consul']",message="is a load for etcd and Consul: for another target.datastore remove it, and set workload and load",fieldPath=".profile"
// +kubebuilder:validation:XValidation:rule="!has(self.kubernetes) || self.target.datastore in ['Etcd', 'Kine']",message="is a load for etcd and kine: for another target.datastore remove it, and set workload and load",fieldPath=".kubernetes"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || self.target.datastore == 'Etcd' && self.workload.type != 'Append' || (has(self.workload.range) && self.workload.range.delivery != 'Whole' ? 'Range ' + self.workload.range.delivery : has(self.workload.mixed) && has(self.workload.mixed.inTransaction) && self.workload.mixed.inTransaction ? 'Mixed InTransaction' : has(self.workload.txn) && self.workload.txn.mode != 'Puts' ? 'Txn ' + self.workload.txn.mode : has(self.workload.lease) && self.workload.lease.operation != 'Grant' ? 'Lease ' + self.workload.lease.operation : has(self.workload.fetch) && self.workload.fetch.layout != 'Fragmented' ? 'Fetch ' + self.workload.fetch.layout : self.workload.type) in (self.target.datastore == 'Kine' ? ['Kubernetes'] : self.target.datastore == 'ZooKeeper' ? ['Put', 'Range', 'Mixed', 'Delete', 'Txn', 'Txn CompareAndSwap', 'Lock', 'Election', 'Fetch', 'Fetch Blob'] : self.target.datastore == 'Consul' ? ['Put', 'Range', 'Mixed', 'Delete', 'Txn', 'Txn CompareAndSwap', 'Lock', 'Election', 'Lease', 'Lease KeepAlive', 'Lease Revoke', 'Fetch', 'Fetch Blob', 'Fetch Flat', 'Fetch Tree'] : self.target.datastore == 'Disk' ? ['Append'] : [])",messageExpression="self.target.datastore == 'Disk' ? 'must be type Append for target.datastore Disk' : self.workload.type == 'Append' ? 'type Append needs target.datastore Disk, and target.disk' : self.target.datastore == 'Kine' ? 'must be type Kubernetes for target.datastore Kine, which serves only the requests of API servers' : 'must be Put, Range with delivery Whole, Mixed without inTransaction, Delete%s for target.datastore %s, found type %s'.format([self.target.datastore == 'Consul' ? ', Txn, Lock, Election, Lease or Fetch' : ', Txn, Lock, Election, or Fetch with layout Fragmented or Blob', self.target.datastore, has(self.workload.range) && self.workload.range.delivery != 'Whole' ? 'Range with delivery ' + self.workload.range.delivery : has(self.workload.mixed) && has(self.workload.mixed.inTransaction) && self.workload.mixed.inTransaction ? 'Mixed with inTransaction' : has(self.workload.fetch) ? 'Fetch with layout ' + self.workload.fetch.layout : self.workload.type])",fieldPath=".workload"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || self.target.datastore in ['Etcd', 'Kine', 'Disk'] || (has(self.workload.put) ? [[self.workload.put.keys.count, self.workload.put.keys.sizeBytes, self.workload.put.values.sizeBytes]] : has(self.workload.range) ? [[self.workload.range.keys.count, self.workload.range.keys.sizeBytes, self.workload.range.values.sizeBytes]] : has(self.workload.mixed) ? [[self.workload.mixed.keys.count, self.workload.mixed.keys.sizeBytes, self.workload.mixed.values.sizeBytes]] : has(self.workload.delete) ? [[self.workload.delete.keys.count, self.workload.delete.keys.sizeBytes, self.workload.delete.values.sizeBytes]] : has(self.workload.txn) ? [[self.workload.txn.keys.count, self.workload.txn.keys.sizeBytes, self.workload.txn.values.sizeBytes]] : has(self.workload.fetch) ? [[(self.workload.fetch.layout == 'Blob' ? 1 : self.workload.fetch.parametersPerProcess) * (self.workload.fetch.parameters == 'Own' && has(self.load) ? self.load.clients : 1), 8, self.workload.fetch.parameterBytes * (self.workload.fetch.layout == 'Blob' ? self.workload.fetch.parametersPerProcess : 1)]] : []).all(k, self.target.datastore in ['ZooKeeper', 'Consul'] && k[0] <= 10000000 && (self.target.datastore == 'Consul' ? k[2] <= 524288 : k[1] >= 4 && k[2] <= 1000000))",messageExpression="'for target.datastore %s, a run must have at most 10000000 keys (servers keep all in memory), %s (servers refuse larger ones)'.format([self.target.datastore, self.target.datastore == 'ZooKeeper' ? 'of at least 4 bytes, and values of at most 1000000 bytes' : 'and values of at most 524288 bytes'])",fieldPath=".workload"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.workload.range) || self.target.datastore in ['Etcd', 'Kine', 'Disk'] || self.workload.range.delivery != 'Whole' || self.target.datastore in ['ZooKeeper', 'Consul'] && self.workload.range.keysPerRequest == 1 && !self.workload.range.keysOnly && !self.workload.range.countOnly",messageExpression="'for target.datastore ' + self.target.datastore + ', keysPerRequest must be 1, keysOnly and countOnly false: a request reads one key'",fieldPath=".workload.range"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.workload.txn) || !has(self.workload.txn.putsPerTransaction) || self.target.datastore in ['Etcd', 'Kine', 'Disk'] || self.target.datastore == 'ZooKeeper' && self.workload.txn.putsPerTransaction * (self.workload.txn.keys.sizeBytes + self.workload.txn.values.sizeBytes + 384) <= 262144 || self.target.datastore == 'Consul' && self.workload.txn.putsPerTransaction <= 63 && self.workload.txn.putsPerTransaction * (self.workload.txn.keys.sizeBytes + self.workload.txn.values.sizeBytes * 4 / 3 + 384) <= 524288",messageExpression="'is too large for target.datastore %s: a put needs keys.sizeBytes (default 8), %s and 384 bytes, and a transaction has at most %s; lower putsPerTransaction or values.sizeBytes'.format([self.target.datastore, self.target.datastore == 'Consul' ? '4/3 of values.sizeBytes (default 256)' : 'values.sizeBytes (default 256)', self.target.datastore == 'Consul' ? '63 puts and 524288 bytes' : '262144 bytes'])",fieldPath=".workload.txn"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.workload.lease) || self.target.datastore in ['Etcd', 'Kine', 'ZooKeeper', 'Disk'] || self.target.datastore in ['Consul'] && (has(self.workload.lease.keepAlive) ? self.workload.lease.keepAlive.leases : !has(self.load) || !has(self.load.requests) ? 0 : !has(self.load.rate) || !has(self.load.rate.perSecond) ? self.load.requests : self.load.requests + self.load.rate.perSecond * self.load.warmupSeconds) <= 100000",messageExpression="'must take at most 100000 leases for target.datastore ' + self.target.datastore + ', which returns them all at once when they are cleaned up: lower lease.keepAlive.leases, load.requests or load.warmupSeconds'",fieldPath=".workload.lease"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.workload.lease) || self.target.datastore in ['Etcd', 'Kine', 'ZooKeeper', 'Disk'] || self.target.datastore in ['Consul'] && self.workload.lease.ttlSeconds >= 10 && self.workload.lease.ttlSeconds <= 86400",messageExpression="'must be 10 to 86400 for target.datastore %s, found %d'.format([self.target.datastore, self.workload.lease.ttlSeconds])",fieldPath=".workload.lease.ttlSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.workload) || self.target.datastore in ['Etcd', 'Kine', 'Consul', 'Disk'] || (has(self.workload.lock) ? [self.workload.lock.names] : has(self.workload.election) ? [self.workload.election.names] : []).all(n, self.target.datastore in ['ZooKeeper'] && n <= 1000 && self.load.clients <= 200 * self.load.connections && self.load.clients <= 10000 * n)",message="for this target.datastore, names must be at most 1000, and load.clients at most 200 times load.connections and 10000 times names: a session has a znode for each client, and each client lists those of a name",fieldPath=".workload"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.workload) || self.target.datastore in ['Etcd', 'Kine', 'Consul', 'Disk'] || (has(self.workload.put) && !(has(self.workload.put.overwrite) && self.workload.put.overwrite) ? [[self.workload.put.keys.count, 1, self.workload.put.keys.distribution == 'Sequential' ? 1 : 0]] : has(self.workload.txn) && has(self.workload.txn.putsPerTransaction) && !(has(self.workload.txn.overwrite) && self.workload.txn.overwrite) ? [[self.workload.txn.keys.count, self.workload.txn.putsPerTransaction, self.workload.txn.keys.distribution == 'Sequential' ? 1 : 0]] : []).all(k, k[2] == 1 && has(self.load.requests) && (k[1] < 1 || self.load.requests <= k[0] / k[1]) && self.load.warmupSeconds == 0)",messageExpression="'creates each key once for target.datastore %s: set overwrite: true; or keys.distribution Sequential, load.requests to at most keys.count (divided by putsPerTransaction), load.warmupSeconds to 0, and no load.durationSeconds'.format([self.target.datastore])",fieldPath=".workload"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.transport in (self.target.datastore == 'Etcd' ? ['Client', 'Fast', 'JSON', 'V2'] : self.target.datastore == 'Kine' ? ['Client'] : self.target.datastore == 'ZooKeeper' ? ['Client'] : self.target.datastore in ['Consul', 'Disk'] ? ['Client'] : [])",messageExpression="'must be Client for target.datastore ' + self.target.datastore + ', found ' + self.load.transport + ': Fast, JSON and V2 speak only to etcd'",fieldPath=".load.transport"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.load.transport in ['Client'] || (has(self.workload.range) && self.workload.range.delivery != 'Whole' ? 'Range ' + self.workload.range.delivery : has(self.workload.mixed) && has(self.workload.mixed.inTransaction) && self.workload.mixed.inTransaction ? 'Mixed InTransaction' : has(self.workload.txn) && self.workload.txn.mode != 'Puts' ? 'Txn ' + self.workload.txn.mode : has(self.workload.lease) && self.workload.lease.operation != 'Grant' ? 'Lease ' + self.workload.lease.operation : has(self.workload.fetch) && self.workload.fetch.layout != 'Fragmented' ? 'Fetch ' + self.workload.fetch.layout : self.workload.type) in (self.load.transport == 'Fast' ? ['Put', 'Range', 'Mixed', 'Delete', 'Txn', 'Txn CompareAndSwap', 'Lease', 'Lease Revoke', 'Fetch', 'Fetch Blob', 'Fetch Flat', 'Fetch Tree'] : self.load.transport == 'JSON' ? ['Put', 'Range', 'Mixed', 'Delete', 'Txn', 'Fetch', 'Fetch Blob', 'Fetch Flat', 'Fetch Tree'] : self.load.transport == 'V2' ? ['Put', 'Range', 'Fetch', 'Fetch Blob', 'Fetch Flat', 'Fetch Tree'] : [])",messageExpression="'must be Client for this workload of type ' + self.workload.type + ', found ' + self.load.transport + ': it sends only Fetch, Put' + (self.load.transport == 'V2' ? ' and Range with delivery Whole' : ', Range with delivery Whole, Mixed without inTransaction, Delete, ' + (self.load.transport == 'JSON' ? 'and Txn with mode Puts' : 'Txn, and Lease with operation Grant or Revoke'))",fieldPath=".load.transport"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.transport in ['Client', 'Fast', 'JSON'] || has(self.target.ephemeral)",messageExpression="'must not be ' + self.load.transport + ' for members that exist without the run: set target.ephemeral, with etcd 3.4 or 3.5 and settings {enable-v2: \"true\"}'",fieldPath=".load.transport"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.workload) || !has(self.workload.range) || self.workload.range.delivery != 'Whole' || self.load.transport in ['Client', 'Fast', 'JSON'] || self.workload.range.keysPerRequest == 1 && !self.workload.range.keysOnly && !self.workload.range.countOnly",messageExpression="'for load.transport ' + self.load.transport + ', keysPerRequest must be 1, keysOnly and countOnly false: a request reads one key'",fieldPath=".workload.range"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || self.load.clients <= self.load.connections || self.target.datastore in ['Etcd', 'Kine', 'ZooKeeper'] && self.load.transport in ['Client', 'Fast']",messageExpression="'must be at most load.connections (%d, default 1) for target.datastore %s and load.transport %s, found %d: each connection carries one request at a time; raise connections or lower clients'.format([self.load.connections, self.target.datastore, self.load.transport, self.load.clients])",fieldPath=".load.clients"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.workload.type != 'Append' || self.load.connections == self.load.pods",messageExpression="'must equal load.pods (%d) for workload.type Append, found %d: a log has one writer'.format([self.load.pods, self.load.connections])",fieldPath=".load.connections"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.sessionTimeoutSeconds) || self.target.datastore in ['ZooKeeper']",messageExpression="'must be absent for target.datastore ' + self.target.datastore + ', whose connections have no sessions: remove it'",fieldPath=".load.sessionTimeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.target.tls) || self.target.datastore in ['Etcd', 'Kine', 'ZooKeeper', 'Consul']",messageExpression="'must be absent for target.datastore ' + self.target.datastore + ', which is loaded in plain text: remove it'",fieldPath=".target.tls"
// +kubebuilder:validation:XValidation:rule="!has(self.target.auth) || self.target.datastore in ['Etcd', 'ZooKeeper', 'Consul']",messageExpression="'must be absent for target.datastore ' + self.target.datastore + ', which is loaded without a user: remove it'",fieldPath=".target.auth"
// +kubebuilder:validation:XValidation:rule="self.target.members in (self.target.datastore == 'Etcd' ? ['All', 'Leader', 'Followers'] : self.target.datastore == 'Kine' ? ['All'] : self.target.datastore == 'ZooKeeper' ? ['All'] : self.target.datastore in ['Consul', 'Disk'] ? ['All'] : [])",messageExpression="'must be All for target.datastore ' + self.target.datastore + ', found ' + self.target.members + ': all of its servers receive the load'",fieldPath=".target.members"
// +kubebuilder:validation:XValidation:rule="!has(self.target.memberIndex) || self.target.datastore in ['Etcd', 'ZooKeeper', 'Consul']",messageExpression="'must be absent for target.datastore ' + self.target.datastore + ', which has only one address: remove it'",fieldPath=".target.memberIndex"
// +kubebuilder:validation:XValidation:rule="!has(self.target.endpoints) || self.target.endpoints.size() == 1 || self.target.datastore in ['Etcd', 'ZooKeeper', 'Consul']",messageExpression="'must be one address for target.datastore %s, found %d, because nothing shows whether two addresses lead to the same database: name one, for example that of a Service'.format([self.target.datastore, self.target.endpoints.size()])",fieldPath=".target.endpoints"
// +kubebuilder:validation:XValidation:rule="!has(self.target.keyPrefix) || self.target.datastore in ['Etcd', 'Kine'] || self.target.datastore in ['ZooKeeper'] && self.target.keyPrefix.matches('^/?([A-Za-z0-9_-][A-Za-z0-9._-]*/)+$') && !self.target.keyPrefix.matches('^/?zookeeper/') || self.target.datastore in ['Consul'] && self.target.keyPrefix.matches('^([A-Za-z0-9_-][A-Za-z0-9._-]*/)+$') && !self.target.keyPrefix.matches('^(vault|nomad)/')",messageExpression="'for target.datastore %s, use names of letters, digits, -, _ and dots (no name begins with a dot), each followed by a slash, and not below %s: for example bench/nightly/'.format([self.target.datastore, self.target.datastore == 'ZooKeeper' ? 'zookeeper/, which its servers use' : 'vault/ or nomad/'])",fieldPath=".target.keyPrefix"
// +kubebuilder:validation:XValidation:rule="!has(self.disturbances) || self.disturbances.all(d, d.type in (self.target.datastore == 'Etcd' ? ['Compact', 'Defragment', 'LeaseExpiry'] : []))",messageExpression="'must be absent for target.datastore ' + self.target.datastore + ', for which there are none: remove them'",fieldPath=".disturbances"
// +kubebuilder:validation:XValidation:rule="!has(self.guard) || !has(self.guard.stopOn) || self.target.datastore in ['Etcd'] || [(self.target.datastore in ['Kine', 'Disk'] ? ['Alarm', 'Quota', 'ErrorRatio'] : self.target.datastore in ['ZooKeeper', 'Consul'] ? ['Alarm', 'Quota', 'ErrorRatio', 'LeaderChange'] : [])].all(rules, (!self.guard.stopOn.alarm || 'Alarm' in rules) && (!self.guard.stopOn.quota || 'Quota' in rules) && (!self.guard.stopOn.leaderChange || 'LeaderChange' in rules) && (!has(self.guard.stopOn.databaseSize) || 'DatabaseSize' in rules) && (!has(self.guard.stopOn.errorRatio) || 'ErrorRatio' in rules) && (!has(self.guard.stopOn.walFsync) || 'WALFsync' in rules))",messageExpression="'%s cannot be checked for target.datastore %s: remove them'.format([self.target.datastore in ['Kine', 'Disk'] ? 'databaseSize, walFsync and leaderChange' : self.target.datastore in ['ZooKeeper', 'Consul'] ? 'databaseSize and walFsync' : 'these rules', self.target.datastore])",fieldPath=".guard.stopOn"
// +kubebuilder:validation:XValidation:rule="!has(self.objectives) || self.target.datastore in ['Etcd'] || [(self.target.datastore in ['Kine', 'Disk'] ? ['Latency', 'Throughput', 'ErrorRatio', 'AchievedRate', 'StartSkew'] : self.target.datastore in ['ZooKeeper', 'Consul'] ? ['Latency', 'Throughput', 'ErrorRatio', 'AchievedRate', 'StartSkew', 'LeaderChanges'] : [])].all(types, self.objectives.all(o, o.type in types))",messageExpression="'must be of type Latency, Throughput, ErrorRatio, AchievedRate' + (self.target.datastore in ['ZooKeeper', 'Consul'] ? ', StartSkew or LeaderChanges' : ' or StartSkew') + ' for target.datastore ' + self.target.datastore + ', which is not asked for the numbers of other types: remove the others'",fieldPath=".objectives"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.durationSeconds) || self.load.durationSeconds + self.load.warmupSeconds < self.timeoutSeconds",messageExpression="'must be greater than load.warmupSeconds plus load.durationSeconds (%d together), found %d (default 600): otherwise the run can never complete; raise it'.format([self.load.durationSeconds + self.load.warmupSeconds, self.timeoutSeconds])",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.requests) || !has(self.load.rate) || !has(self.load.rate.perSecond) || self.load.rate.perSecond < 1 || self.load.requests / self.load.rate.perSecond + self.load.warmupSeconds < self.timeoutSeconds",messageExpression="'must be greater than load.requests divided by load.rate.perSecond, plus load.warmupSeconds (%d together), found %d (default 600): otherwise the run can never complete; raise it'.format([self.load.requests / self.load.rate.perSecond + self.load.warmupSeconds, self.timeoutSeconds])",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !has(self.load.rate) || !has(self.load.rate.stages) || self.load.rate.stages.map(s, s.seconds).sum() + self.load.warmupSeconds < self.timeoutSeconds",messageExpression="'must be greater than load.warmupSeconds plus the seconds of load.rate.stages (%d together), found %d (default 600): otherwise the run can never complete; raise it'.format([self.load.rate.stages.map(s, s.seconds).sum() + self.load.warmupSeconds, self.timeoutSeconds])",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.delete) || has(self.load.requests) && self.load.requests <= self.workload.delete.keys.count",messageExpression="'must be set for workload.type Delete, to at most delete.keys.count (%d, default 100000): each request deletes another key; lower requests or raise keys.count'.format([self.workload.delete.keys.count])",fieldPath=".load.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.delete) || self.load.warmupSeconds == 0",message="must be 0 for workload.type Delete: a warm-up would delete keys of the measured window; writing the keys already warms up the connections",fieldPath=".load.warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.lease) || self.workload.lease.operation == 'KeepAlive' || (has(self.load.requests) && self.load.requests <= 1000000)",messageExpression="'must be set for lease.operation ' + self.workload.lease.operation + ', to at most 1000000, instead of load.durationSeconds: each request takes a lease of its own'",fieldPath=".load.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.lease) || self.workload.lease.operation != 'Revoke' || self.load.warmupSeconds == 0",message="must be 0 for lease.operation Revoke: a warm-up would use up the leases to revoke",fieldPath=".load.warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.lease) || self.workload.lease.operation != 'Grant' || self.load.warmupSeconds == 0 || !has(self.load.requests) || has(self.load.rate) && has(self.load.rate.perSecond) && self.load.requests + self.load.rate.perSecond * self.load.warmupSeconds <= 1000000",message="a warm-up of lease.operation Grant needs load.rate.perSecond, and together with load.requests may grant at most 1000000 leases, because all stay until the run ends: set load.warmupSeconds to 0, or set load.rate.perSecond and lower it, warmupSeconds or requests",fieldPath=".load.warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.load.clients < 1 || (has(self.workload.lock) ? self.workload.lock.names : has(self.workload.election) ? self.workload.election.names : 0) <= self.load.clients",messageExpression="'names must be at most load.clients (%d, default 1): each client contends for one lock or election, so the others would have no client; lower names or raise clients'.format([self.load.clients])",fieldPath=".workload"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || has(self.load.rate) || (has(self.workload.lock) ? [[self.workload.lock.names, self.workload.lock.holdMilliseconds]] : has(self.workload.election) ? [[self.workload.election.names, self.workload.election.leadMilliseconds]] : []).all(c, c[0] < 1 || (self.load.clients - 1) / c[0] * c[1] < self.load.requestTimeoutSeconds * 1000)",messageExpression="'found %d, too many for the names (default 1): the last client in the queue of a lock or an election would wait at least load.requestTimeoutSeconds (%d, default 10); lower clients, holdMilliseconds or leadMilliseconds, or raise names or requestTimeoutSeconds'.format([self.load.clients, self.load.requestTimeoutSeconds])",fieldPath=".load.clients"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watch) || self.workload.watch.streams >= self.load.pods",messageExpression="'must be at least load.pods (%d), found %d (default 10): each pod needs a stream to see its own puts; raise it, or lower pods'.format([self.load.pods, self.workload.watch.streams])",fieldPath=".workload.watch.streams"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watch) || !has(self.workload.watch.connections) || self.workload.watch.connections == 0 || self.workload.watch.connections >= self.load.pods",messageExpression="'must be 0, or at least load.pods (%d), found %d: each pod needs a connection for its own streams; raise it, or lower pods'.format([self.load.pods, self.workload.watch.connections])",fieldPath=".workload.watch.connections"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watchGet) || self.workload.watchGet.streams >= self.load.pods",messageExpression="'must be at least load.pods (%d), found %d (default 10): each pod needs a stream to carry its own watchers; raise it, or lower pods'.format([self.load.pods, self.workload.watchGet.streams])",fieldPath=".workload.watchGet.streams"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watchGet) || !has(self.workload.watchGet.connections) || self.workload.watchGet.connections == 0 || self.workload.watchGet.connections >= self.load.pods",messageExpression="'must be 0, or at least load.pods (%d), found %d: each pod needs a connection for its own streams; raise it, or lower pods'.format([self.load.pods, self.workload.watchGet.connections])",fieldPath=".workload.watchGet.connections"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.watchGet) || self.workload.watchGet.keys.count >= self.load.pods",messageExpression="'must be at least load.pods (%d), found %d: each pod needs a key for the history that its watchers read; raise it, or lower pods'.format([self.load.pods, self.workload.watchGet.keys.count])",fieldPath=".workload.watchGet.keys.count"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.kubernetes) || self.load.warmupSeconds == 0",message="must be 0 for workload.type Kubernetes: a warm-up would create and delete the pods of the measured window; writing the objects already warms up the connections",fieldPath=".load.warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.kubernetes) || self.load.pods <= 25",message="must be at most 25 for workload.type Kubernetes: with more, each would have too few Kubernetes pods to change",fieldPath=".load.pods"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.kubernetes) || self.load.clients <= (has(self.workload.kubernetes.nodes) ? self.workload.kubernetes.nodes : has(self.workload.kubernetes.profile) ? {'Small': 50, 'Medium': 250, 'Large': 1000}[self.workload.kubernetes.profile] : 1000000)",messageExpression="'must be at most the number of nodes of workload.kubernetes' + (has(self.workload.kubernetes.nodes) ? '.nodes' : self.workload.kubernetes.profile == 'Small' ? '.profile Small (50)' : self.workload.kubernetes.profile == 'Medium' ? '.profile Medium (250)' : '.profile Large (1000)') + ': four of five requests renew the lease of a node, and a node renews only one lease at a time; lower it, or choose a larger cluster'",fieldPath=".load.clients"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || has(self.load.requests) || has(self.load.durationSeconds) || has(self.load.rate) && has(self.load.rate.stages) || !has(self.workload) || has(self.workload.fetch)",message="set load.requests or load.durationSeconds, or neither with load.rate.stages: found neither",fieldPath=".load"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.fetch) || !has(self.load.requests) && !has(self.load.durationSeconds) && !has(self.load.rate) && self.load.warmupSeconds == 0",messageExpression="'for workload.type Fetch, remove ' + (has(self.load.requests) ? 'requests' : has(self.load.durationSeconds) ? 'durationSeconds' : has(self.load.rate) ? 'rate' : 'warmupSeconds') + ': each of load.clients is one process, which reads its parameters once'",fieldPath=".load"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.fetch) || self.workload.fetch.connect == 'Before' || self.load.connections == self.load.clients",messageExpression="'must equal load.clients (%d, default 1) for workload.fetch.connect AtStart, found %d (default 1): each process opens a connection of its own; raise it, or set workload.fetch.connect: Before'.format([self.load.clients, self.load.connections])",fieldPath=".load.connections"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.fetch) || self.workload.fetch.parameters == 'Shared' || self.load.clients * (self.workload.fetch.layout == 'Blob' ? 1 : self.workload.fetch.parametersPerProcess) <= 1000000000",messageExpression="'must be Shared for %d processes with %d parameters each, which are more than 1000000000 keys: lower load.clients or parametersPerProcess'.format([self.load.clients, self.workload.fetch.parametersPerProcess])",fieldPath=".workload.fetch.parameters"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || !has(self.workload.fetch) || self.workload.fetch.rampSeconds < self.timeoutSeconds",messageExpression="'must be greater than workload.fetch.rampSeconds (%d), found %d (default 600): otherwise the run can never complete; raise it'.format([self.workload.fetch.rampSeconds, self.timeoutSeconds])",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.workload.type != 'Observe' || has(self.load.durationSeconds) && !has(self.load.rate) && self.load.warmupSeconds == 0 && self.load.pods == 1 && self.load.connections == 1 && self.load.clients == 1",message="for workload.type Observe, set only durationSeconds: one client asks one member per second",fieldPath=".load"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || self.workload.type != 'Observe' || self.target.members == 'All' && !has(self.target.memberIndex) && !has(self.target.ephemeral)",message="must have neither members, memberIndex nor ephemeral for workload.type Observe, which looks at all members of an etcd that exists: remove them",fieldPath=".target"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || !has(self.load) || self.workload.type != 'Observe' || !has(self.load.durationSeconds) || self.load.durationSeconds + 60 <= self.timeoutSeconds",messageExpression="'must be at least load.durationSeconds (%d) plus 60 for workload.type Observe, found %d (default 600): a look at a member that does not answer takes longer'.format([self.load.durationSeconds, self.timeoutSeconds])",fieldPath=".timeoutSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || self.workload.type != 'Observe' || !has(self.disturbances)",message="must be absent for workload.type Observe, which changes nothing: remove them",fieldPath=".disturbances"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || self.workload.type != 'Observe' || !has(self.guard) || !has(self.guard.stopOn)",message="must be absent for workload.type Observe, which loads nothing: remove it",fieldPath=".guard.stopOn"
// +kubebuilder:validation:XValidation:rule="!has(self.workload) || self.target.datastore in ['Kine', 'Disk'] || (has(self.workload.range) ? [self.workload.range.consistency] : has(self.workload.mixed) ? [self.workload.mixed.consistency] : has(self.workload.fetch) ? [self.workload.fetch.consistency] : []).all(c, c in (self.target.datastore == 'Etcd' ? ['Linearizable', 'Serializable'] : self.target.datastore == 'ZooKeeper' ? ['Serializable', 'SyncRead'] : self.target.datastore == 'Consul' ? ['Linearizable', 'Leader', 'Serializable'] : []))",messageExpression="'consistency must be ' + (self.target.datastore == 'ZooKeeper' ? 'Serializable or SyncRead' : self.target.datastore == 'Consul' ? 'Linearizable, Leader or Serializable' : 'Linearizable or Serializable') + ' for target.datastore ' + self.target.datastore + ' (default Linearizable)'",fieldPath=".workload"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || has(self.load.rate) || !has(self.objectives) || !self.objectives.exists(o, o.type == 'AchievedRate')",message="an objective of type AchievedRate needs load.rate: a closed loop has no rate to compare with",fieldPath=".objectives"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.workload) || !has(self.objectives) || self.objectives.all(o, !has(o.latency) || o.latency.operation in {'Put': ['Put'], 'Range': ['Range'], 'Mixed': (has(self.workload.mixed) && self.workload.mixed.readPercent < 100 ? ['Put'] : []) + (has(self.workload.mixed) && self.workload.mixed.readPercent > 0 ? ['Range'] : []), 'Delete': ['Delete'], 'Txn': [has(self.workload.txn) && self.workload.txn.mode == 'CompareAndSwap' ? 'CompareAndSwap' : 'Txn'], 'STM': ['STM'], 'Lock': ['LockAcquire', 'LockRelease', 'LockHandOff'], 'Election': ['ElectionCampaign', 'ElectionResign', 'ElectionHandOff'], 'Lease': [has(self.workload.lease) ? 'Lease' + self.workload.lease.operation : 'Lease'], 'Watch': ['Put', 'WatchEvent', 'WatchDelivery'], 'WatchGet': ['Range'], 'Fetch': ['Fetch'], 'Append': ['Append', 'Flush'], 'Observe': ['Status'], 'Kubernetes': ['OptimisticPut', 'OptimisticDelete', 'ListBy500', 'ListBy10000', 'WatchEvent', 'WatchDelivery']}[self.workload.type])",optionalOldSelf=true,messageExpression="'latency.operation must be one that workload.type ' + self.workload.type + ' measures: ' + (self.workload.type == 'Mixed' ? 'Put or Range, as readPercent allows' : self.workload.type == 'Txn' ? 'Txn (mode Puts) or CompareAndSwap (mode CompareAndSwap)' : self.workload.type == 'Lock' ? 'LockAcquire, LockRelease or LockHandOff' : self.workload.type == 'Election' ? 'ElectionCampaign, ElectionResign or ElectionHandOff' : self.workload.type == 'Lease' ? 'LeaseGrant, LeaseKeepAlive or LeaseRevoke, as lease.operation says' : self.workload.type == 'Watch' ? 'Put, WatchEvent or WatchDelivery' : self.workload.type == 'WatchGet' ? 'Range' : self.workload.type == 'Append' ? 'Append or Flush' : self.workload.type == 'Observe' ? 'Status' : self.workload.type == 'Kubernetes' ? 'OptimisticPut, OptimisticDelete, ListBy500, ListBy10000, WatchEvent or WatchDelivery' : self.workload.type)",fieldPath=".objectives"
// +kubebuilder:validation:XValidation:rule="!has(self.disturbances) || has(self.guard) && self.guard.allowStoreWide || !self.disturbances.exists(d, d.type in ['Compact', 'Defragment'])",message="types Compact and Defragment affect all users of the store, not only the keys of the run: remove them, or set spec.guard.allowStoreWide if that is acceptable",fieldPath=".disturbances"
// +kubebuilder:validation:XValidation:rule="!has(self.disturbances) || !has(self.workload) || !has(self.workload.watchGet) || !self.disturbances.exists(d, d.type == 'Compact')",message="type Compact would remove the history that the watchers of WatchGet read again and again: remove it, or choose another workload.type",fieldPath=".disturbances"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || !has(self.disturbances) || self.disturbances.size() == 0 || (has(self.profile) || has(self.kubernetes) ? 60 : !has(self.load) ? 90001 : has(self.load.durationSeconds) ? self.load.durationSeconds : has(self.load.rate) && has(self.load.rate.stages) ? self.load.rate.stages.map(s, s.seconds).sum() : 90001) > self.disturbances.map(d, d.everySeconds + (has(d.leaseExpiry) ? d.leaseExpiry.ttlSeconds : 0)).max()",optionalOldSelf=true,message="the measured window is too short for a disturbance: everySeconds (plus ttlSeconds, default 5, for LeaseExpiry) must be less than its length (load.durationSeconds, the seconds of load.rate.stages, or 60 for spec.profile and spec.kubernetes); lower everySeconds or ttlSeconds, or lengthen the window",fieldPath=".disturbances"
// +kubebuilder:validation:XValidation:rule="!has(self.target.ephemeral) || !has(self.target.ephemeral.settings) || self.target.ephemeral.settings.all(k, self.target.datastore == 'ZooKeeper' ? (k == 'jvmFlags' ? self.target.ephemeral.settings[k].matches('^(-(X(ms|mx|mn|ss)[0-9]+[kmgKMG]?|XX:[+-]?[A-Za-z0-9]+(=[0-9]+[kmgKMG]?)?)( |$))+$') : k.matches('^[a-zA-Z][a-zA-Z0-9._]*$') && !k.matches('^(data(Log)?Dir|(server|group|weight|admin|quorum)[.].*|.*(Port|[aA]ddress|ssl|[aA]uth|[sS]asl|kerberos|Provider|Factory|File).*|quorumListenOnAllIPs|standaloneEnabled|reconfigEnabled|peerType)$') && self.target.ephemeral.settings[k].matches('^[A-Za-z0-9._-]+$')) : self.target.datastore == 'Consul' ? k.matches('^((performance|limits|autopilot|gossip_lan|raft_logstore|cache)([.][a-z_]+)+|raft_[a-z_]+|session_ttl_min|discovery_max_stale|telemetry[.]disable_hostname|ports[.]grpc_tls)$') && self.target.ephemeral.settings[k].matches('^[A-Za-z0-9._-]+$') : k.matches('^[a-z][a-z0-9-]*$') && !k.matches('^(name|data-dir|wal-dir|.*-urls|initial-.*|discovery.*|config-file|force-new-cluster.*|log-outputs|.*cert.*|.*key-file|.*ca-file|.*crl-file|.*auto-tls|version|help)$'))",messageExpression="self.target.datastore == 'ZooKeeper' ? 'must be properties of zoo.cfg with a number or a word, or jvmFlags with -Xms, -Xmx, -Xmn, -Xss or -XX, and none that the operator sets: folders, ports, addresses, servers, AdminServer, TLS, users, providers' : self.target.datastore == 'Consul' ? 'must be configuration keys by path, with a number or a word: performance.*, limits.*, autopilot.*, gossip_lan.*, raft_*, cache.*, session_ttl_min, discovery_max_stale, telemetry.disable_hostname, ports.grpc_tls' : 'must be flags of etcd without hyphens in front, and none that the operator sets: names, folders, URLs, initial-*, discovery*, config-file, force-new-cluster, log-outputs, certificates'",fieldPath=".target.ephemeral.settings"
// +kubebuilder:validation:XValidation:rule="!has(self.target.service) || !has(self.target.service.port) || (type(self.target.service.port) == int ? self.target.service.port >= 1 && self.target.service.port <= 65535 : self.target.service.port.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'))",message="must be the name of a port of the Service, or a number from 1 to 65535",fieldPath=".target.service.port"
// +kubebuilder:validation:XValidation:rule="!has(self.target.pods) || !has(self.target.pods.selector.matchExpressions) || self.target.pods.selector.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && e.values.size() > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || e.values.size() == 0))",message="must have operator In or NotIn with values, or Exists or DoesNotExist without values, in each expression",fieldPath=".target.pods.selector.matchExpressions"
type EtcdBenchmarkSpec struct {
	// target is the cluster to load.
	//
	// +required
	Target Target `json:"target"`

	// profile is Small, Medium, Large or XLarge: the load and the limits of the
	// etcdctl check perf of that name. It replaces workload, load and objectives,
	// which must be absent. status.resolved shows their values.
	//
	// +optional
	Profile Profile `json:"profile,omitempty"`

	// kubernetes loads the target for a minute as the API servers of a Kubernetes
	// cluster would, and says whether it kept up. It replaces profile, workload,
	// load and objectives, which must be absent. status.resolved shows their
	// values.
	//
	// +optional
	Kubernetes *KubernetesCluster `json:"kubernetes,omitempty"`

	// workload is what one request does. Required without profile and kubernetes.
	//
	// +optional
	Workload spec.Workload `json:"workload,omitzero"`

	// load is how many requests are sent, by how many clients, and how fast.
	// Required without profile and kubernetes.
	//
	// +optional
	Load spec.Load `json:"load,omitzero"`

	// disturbances happen at intervals beside the load, in the measured window. At
	// most one of each type. Absent: none.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Disturbances []spec.Disturbance `json:"disturbances,omitempty"`

	// objectives are what the result must reach. Absent: none, and the condition
	// Passed is absent.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Objectives []Objective `json:"objectives,omitempty"`

	// guard protects the target. Absent: its defaults apply.
	//
	// +optional
	Guard *spec.Guard `json:"guard,omitempty"`

	// pod sets where the client pods run, which resources they may use, and their
	// labels. It has no field that could raise a user's rights.
	//
	// +optional
	Pod *PodSettings `json:"pod,omitempty"`

	// onPodLost is what happens if a client pod is lost after the start: evicted,
	// killed because of memory, crashed, or gone with its node.
	// - Fail: the run ends as PodFailed.
	// - Continue: the other pods continue, and the run finishes as
	//   PartlyCompleted.
	//
	// In both cases the remaining pods report their measurements, the result is
	// partial, and the run cannot pass. A pod that reports why it cannot continue
	// always ends the run.
	// The loss of client pod 0, which observes the target, ends the run if
	// spec.guard.stopOn has rules about the target, or spec.disturbances are set.
	// Default Fail.
	//
	// +optional
	// +kubebuilder:default=Fail
	OnPodLost PodLossPolicy `json:"onPodLost,omitempty"`

	// onObjectiveMissed is what happens when an objective cannot be met any more.
	// That is known before the end for a percentile of latency in a run with
	// load.rate or load.requests: when more requests were too slow than may be in
	// the whole run.
	// - Continue: the run continues to its end.
	// - Stop: the run ends as MissedEarly, which spares the target. The objective
	//   is missed; the other results have what was measured until then.
	//
	// The probes of a search have Stop. Default Continue.
	//
	// +optional
	// +kubebuilder:default=Continue
	OnObjectiveMissed ObjectiveMissedPolicy `json:"onObjectiveMissed,omitempty"`

	// schedulingTimeoutSeconds is how long, in seconds, the client pods may take
	// from the creation of the Job until all are ready to start. Clusters that add
	// nodes on demand need minutes. Runs that queue for the same addresses wait
	// during this time. It also bounds the wait for the lock of the target, which
	// begins when all pods have connected, and the wait for members of the target
	// that are not ready, which begins with the run. Default 300.
	//
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	SchedulingTimeoutSeconds int32 `json:"schedulingTimeoutSeconds,omitempty"`

	// timeoutSeconds bounds the whole run, in seconds, from when it left the queue
	// of its target. A run that reaches it is ended, keeps its numbers, and
	// finishes as TimedOut. If only keys were left to delete, it finishes as
	// Completed, and condition Cleaned reports the deletion. Default 600.
	//
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// ttlSecondsAfterFinished is how many seconds after the run has finished and
	// was cleaned the object is deleted. Absent: it is kept. Do not set it on
	// objects that a GitOps tool applies: the tool would create them, and so run
	// them, again and again.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// stop ends the run cleanly when it becomes true. What was measured until then
	// is kept. It cannot become false again. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	Stop bool `json:"stop"`
}
