package v1alpha1

// ObjectiveType is what an objective limits.
//
// +kubebuilder:validation:Enum=Latency;Throughput;ErrorRatio;AchievedRate;StartSkew;WALFsync;BackendCommit;PeerRoundTrip;LeaderChanges;SlowApplies;FailedProposals;MemberMemory;MemberCPU;DatabaseGrowth
type ObjectiveType string

const (
	// ObjectiveLatency limits a statistic of latency from above.
	ObjectiveLatency ObjectiveType = "Latency"
	// ObjectiveThroughput limits successful requests per second from below.
	ObjectiveThroughput ObjectiveType = "Throughput"
	// ObjectiveErrorRatio limits the share of failed requests from above.
	ObjectiveErrorRatio ObjectiveType = "ErrorRatio"
)

// Operation is a kind of request that is measured, or of event that follows
// from one.
//
// +kubebuilder:validation:Enum=Put;Range;Delete;Txn;CompareAndSwap;STM;LockAcquire;LockRelease;LockHandOff;ElectionCampaign;ElectionResign;ElectionHandOff;LeaseGrant;LeaseKeepAlive;LeaseRevoke;WatchEvent;WatchDelivery;OptimisticPut;OptimisticDelete;ListBy500;ListBy10000
type Operation string

const (
	// OperationPut is etcd's KV/Put.
	OperationPut Operation = "Put"
	// OperationRange is etcd's KV/Range.
	OperationRange Operation = "Range"
	// OperationDelete is etcd's KV/DeleteRange of one key.
	OperationDelete Operation = "Delete"
	// OperationTxn is a transaction that writes several keys.
	OperationTxn Operation = "Txn"
	// OperationCompareAndSwap is a read of a key and the transaction that writes
	// it if nobody else has since.
	OperationCompareAndSwap Operation = "CompareAndSwap"
	// OperationSTM is a software transaction, with its lock and all its attempts.
	OperationSTM Operation = "STM"
	// OperationLockAcquire is from when a lock is wanted until it is had.
	OperationLockAcquire Operation = "LockAcquire"
	// OperationLockRelease gives a lock back.
	OperationLockRelease Operation = "LockRelease"
	// OperationLockHandOff is how long a lock is nobody's while somebody waits for
	// it, where both are clients of one pod.
	OperationLockHandOff Operation = "LockHandOff"
	// OperationElectionCampaign is from when a client stands in an election until
	// it leads.
	OperationElectionCampaign Operation = "ElectionCampaign"
	// OperationElectionResign ends a client's leadership.
	OperationElectionResign Operation = "ElectionResign"
	// OperationElectionHandOff is how long nobody leads while somebody stands in an
	// election, where both are clients of one pod.
	OperationElectionHandOff Operation = "ElectionHandOff"
	// OperationLeaseGrant is etcd's Lease/LeaseGrant.
	OperationLeaseGrant Operation = "LeaseGrant"
	// OperationLeaseKeepAlive is one renewal by etcd's Lease/LeaseKeepAlive.
	OperationLeaseKeepAlive Operation = "LeaseKeepAlive"
	// OperationLeaseRevoke is etcd's Lease/LeaseRevoke.
	OperationLeaseRevoke Operation = "LeaseRevoke"
	// OperationOptimisticPut creates or changes an object of a Kubernetes registry
	// in a transaction, if nobody was faster.
	OperationOptimisticPut Operation = "OptimisticPut"
	// OperationOptimisticDelete deletes one.
	OperationOptimisticDelete Operation = "OptimisticDelete"
	// OperationListBy500 reads all pods of a Kubernetes registry in pages of 500.
	OperationListBy500 Operation = "ListBy500"
	// OperationListBy10000 reads them in pages of 10,000.
	OperationListBy10000 Operation = "ListBy10000"
	// OperationWatchEvent is the arrival of an event at a watcher, from when its
	// put was due.
	OperationWatchEvent Operation = "WatchEvent"
	// OperationWatchDelivery is the same from when the put was answered.
	OperationWatchDelivery Operation = "WatchDelivery"
)

// LatencyStatistic is one number of a distribution of latencies.
//
// +kubebuilder:validation:Enum=Mean;P50;P90;P95;P99;P999;Max;Stddev
type LatencyStatistic string

// The statistics of a distribution of latencies. Percentiles are nearest rank;
// failed requests rank above every latency.
const (
	StatisticMean LatencyStatistic = "Mean"
	StatisticP50  LatencyStatistic = "P50"
	StatisticP90  LatencyStatistic = "P90"
	StatisticP95  LatencyStatistic = "P95"
	StatisticP99  LatencyStatistic = "P99"
	StatisticP999 LatencyStatistic = "P999"
	StatisticMax  LatencyStatistic = "Max"
	// StatisticStddev is the standard deviation. A failed or censored request
	// has no place in it and makes it Unknown.
	StatisticStddev LatencyStatistic = "Stddev"
)

// Objective is a limit that the result must keep. It is a union: type, and the
// field of that name.
//
// +kubebuilder:validation:XValidation:rule="has(self.latency) == (self.type == 'Latency')",message="objective.latency must be set if, and only if, its type is Latency"
// +kubebuilder:validation:XValidation:rule="has(self.throughput) == (self.type == 'Throughput')",message="objective.throughput must be set if, and only if, its type is Throughput"
// +kubebuilder:validation:XValidation:rule="has(self.errorRatio) == (self.type == 'ErrorRatio')",message="objective.errorRatio must be set if, and only if, its type is ErrorRatio"
// +kubebuilder:validation:XValidation:rule="has(self.achievedRate) == (self.type == 'AchievedRate')",message="objective.achievedRate must be set if, and only if, its type is AchievedRate"
// +kubebuilder:validation:XValidation:rule="has(self.startSkew) == (self.type == 'StartSkew')",message="objective.startSkew must be set if, and only if, its type is StartSkew"
// +kubebuilder:validation:XValidation:rule="has(self.walFsync) == (self.type == 'WALFsync')",message="objective.walFsync must be set if, and only if, its type is WALFsync"
// +kubebuilder:validation:XValidation:rule="has(self.backendCommit) == (self.type == 'BackendCommit')",message="objective.backendCommit must be set if, and only if, its type is BackendCommit"
// +kubebuilder:validation:XValidation:rule="has(self.peerRoundTrip) == (self.type == 'PeerRoundTrip')",message="objective.peerRoundTrip must be set if, and only if, its type is PeerRoundTrip"
// +kubebuilder:validation:XValidation:rule="has(self.leaderChanges) == (self.type == 'LeaderChanges')",message="objective.leaderChanges must be set if, and only if, its type is LeaderChanges"
// +kubebuilder:validation:XValidation:rule="has(self.slowApplies) == (self.type == 'SlowApplies')",message="objective.slowApplies must be set if, and only if, its type is SlowApplies"
// +kubebuilder:validation:XValidation:rule="has(self.failedProposals) == (self.type == 'FailedProposals')",message="objective.failedProposals must be set if, and only if, its type is FailedProposals"
// +kubebuilder:validation:XValidation:rule="has(self.memberMemory) == (self.type == 'MemberMemory')",message="objective.memberMemory must be set if, and only if, its type is MemberMemory"
// +kubebuilder:validation:XValidation:rule="has(self.memberCPU) == (self.type == 'MemberCPU')",message="objective.memberCPU must be set if, and only if, its type is MemberCPU"
// +kubebuilder:validation:XValidation:rule="has(self.databaseGrowth) == (self.type == 'DatabaseGrowth')",message="objective.databaseGrowth must be set if, and only if, its type is DatabaseGrowth"
// +union
type Objective struct {
	// name of the objective, unique in the run; its result has the same name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// type is, of what the client pods measured, Latency, Throughput,
	// ErrorRatio, AchievedRate or StartSkew; of what the members' own metrics
	// say of the measured window, WALFsync, BackendCommit, PeerRoundTrip,
	// LeaderChanges, SlowApplies, FailedProposals, MemberMemory, MemberCPU or
	// DatabaseGrowth. Of several members the worst one decides.
	//
	// +required
	// +unionDiscriminator
	Type ObjectiveType `json:"type"`

	// latency limits a statistic of latency from above.
	//
	// +optional
	Latency *LatencyObjective `json:"latency,omitempty"`

	// throughput limits successful requests per second from below.
	//
	// +optional
	Throughput *ThroughputObjective `json:"throughput,omitempty"`

	// errorRatio limits the share of failed requests from above.
	//
	// +optional
	ErrorRatio *ErrorRatioObjective `json:"errorRatio,omitempty"`

	// achievedRate limits the share of load.rate that succeeded from below.
	//
	// +optional
	AchievedRate *AchievedRateObjective `json:"achievedRate,omitempty"`

	// startSkew limits the distance between the first and the last pod's start
	// from above.
	//
	// +optional
	StartSkew *StartSkewObjective `json:"startSkew,omitempty"`

	// walFsync limits how long flushing the write-ahead log took.
	//
	// +optional
	WALFsync *MemberDurationObjective `json:"walFsync,omitempty"`

	// backendCommit limits how long committing the database took.
	//
	// +optional
	BackendCommit *MemberDurationObjective `json:"backendCommit,omitempty"`

	// peerRoundTrip limits the round trips between members. A member observes
	// two for each peer in 30 s, so a window of less than four minutes makes it
	// Unknown in a cluster of three.
	//
	// +optional
	PeerRoundTrip *MemberDurationObjective `json:"peerRoundTrip,omitempty"`

	// leaderChanges limits how often a member saw the leader change.
	//
	// +optional
	LeaderChanges *MemberCountObjective `json:"leaderChanges,omitempty"`

	// slowApplies limits how often applying a request took a member longer
	// than its own limit (100 ms by default), reads among them.
	//
	// +optional
	SlowApplies *MemberCountObjective `json:"slowApplies,omitempty"`

	// failedProposals limits how many of a member's proposals failed.
	//
	// +optional
	FailedProposals *MemberCountObjective `json:"failedProposals,omitempty"`

	// memberMemory limits the greatest resident memory of a member, mapped
	// pages of the database included.
	//
	// +optional
	MemberMemory *MemberBytesObjective `json:"memberMemory,omitempty"`

	// memberCPU limits how much processor time a member used.
	//
	// +optional
	MemberCPU *MemberCPUObjective `json:"memberCPU,omitempty"`

	// databaseGrowth limits how much a member's database grew.
	//
	// +optional
	DatabaseGrowth *MemberBytesObjective `json:"databaseGrowth,omitempty"`
}

// LatencyObjective limits a statistic of latency.
type LatencyObjective struct {
	// operation whose latency is meant. The workload must be one that sends it,
	// or brings the event about.
	//
	// +required
	Operation Operation `json:"operation"`

	// statistic is Mean, P50, P90, P95, P99, P999, Max or Stddev.
	//
	// +required
	Statistic LatencyStatistic `json:"statistic"`

	// maxMicroseconds is the highest value that meets the objective, in
	// microseconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600000000
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

// ThroughputObjective limits successful requests per second.
type ThroughputObjective struct {
	// minPerSecond is the lowest rate of successful requests, over all pods
	// and operations, that meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	MinPerSecond int64 `json:"minPerSecond"`
}

// ErrorRatioObjective limits the share of failed requests.
type ErrorRatioObjective struct {
	// maxPerMillion is the highest number of failed requests in a million
	// that meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MaxPerMillion int64 `json:"maxPerMillion"`
}
