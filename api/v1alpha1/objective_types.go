package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

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

// Objective is a limit that the result must keep. It is a union: type, and the
// field of that name.
//
// +kubebuilder:validation:XValidation:rule="has(self.latency) == (self.type == 'Latency') && has(self.throughput) == (self.type == 'Throughput') && has(self.errorRatio) == (self.type == 'ErrorRatio') && has(self.achievedRate) == (self.type == 'AchievedRate') && has(self.startSkew) == (self.type == 'StartSkew') && has(self.walFsync) == (self.type == 'WALFsync') && has(self.backendCommit) == (self.type == 'BackendCommit') && has(self.peerRoundTrip) == (self.type == 'PeerRoundTrip') && has(self.leaderChanges) == (self.type == 'LeaderChanges') && has(self.slowApplies) == (self.type == 'SlowApplies') && has(self.failedProposals) == (self.type == 'FailedProposals') && has(self.memberMemory) == (self.type == 'MemberMemory') && has(self.memberCPU) == (self.type == 'MemberCPU') && has(self.databaseGrowth) == (self.type == 'DatabaseGrowth')",messageExpression="'objective of type ' + self.type + ' needs the field ' + {'Latency': 'latency', 'Throughput': 'throughput', 'ErrorRatio': 'errorRatio', 'AchievedRate': 'achievedRate', 'StartSkew': 'startSkew', 'WALFsync': 'walFsync', 'BackendCommit': 'backendCommit', 'PeerRoundTrip': 'peerRoundTrip', 'LeaderChanges': 'leaderChanges', 'SlowApplies': 'slowApplies', 'FailedProposals': 'failedProposals', 'MemberMemory': 'memberMemory', 'MemberCPU': 'memberCPU', 'DatabaseGrowth': 'databaseGrowth'}[self.type] + ' and no other: set it and remove the others'"
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
	Operation spec.Operation `json:"operation"`

	// statistic is Mean, P50, P90, P95, P99, P999, Max or Stddev.
	//
	// +required
	Statistic spec.Statistic `json:"statistic"`

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
