package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// ObjectiveMissedPolicy is what happens when an objective cannot be met any more.
//
// +kubebuilder:validation:Enum=Continue;Stop
type ObjectiveMissedPolicy string

// The policies for a missed objective.
const (
	ObjectiveMissedContinue ObjectiveMissedPolicy = "Continue"
	ObjectiveMissedStop     ObjectiveMissedPolicy = "Stop"
)

// Objective is a limit that the result must keep. It is a union: type, and the
// field of that name.
//
// +kubebuilder:validation:XValidation:rule="has(self.latency) == (self.type == 'Latency') && has(self.throughput) == (self.type == 'Throughput') && has(self.errorRatio) == (self.type == 'ErrorRatio') && has(self.achievedRate) == (self.type == 'AchievedRate') && has(self.startSkew) == (self.type == 'StartSkew') && has(self.walFsync) == (self.type == 'WALFsync') && has(self.backendCommit) == (self.type == 'BackendCommit') && has(self.peerRoundTrip) == (self.type == 'PeerRoundTrip') && has(self.leaderChanges) == (self.type == 'LeaderChanges') && has(self.slowApplies) == (self.type == 'SlowApplies') && has(self.failedProposals) == (self.type == 'FailedProposals') && has(self.memberMemory) == (self.type == 'MemberMemory') && has(self.memberCPU) == (self.type == 'MemberCPU') && has(self.databaseGrowth) == (self.type == 'DatabaseGrowth')",messageExpression="'type ' + self.type + ' needs the field ' + {'Latency': 'latency', 'Throughput': 'throughput', 'ErrorRatio': 'errorRatio', 'AchievedRate': 'achievedRate', 'StartSkew': 'startSkew', 'WALFsync': 'walFsync', 'BackendCommit': 'backendCommit', 'PeerRoundTrip': 'peerRoundTrip', 'LeaderChanges': 'leaderChanges', 'SlowApplies': 'slowApplies', 'FailedProposals': 'failedProposals', 'MemberMemory': 'memberMemory', 'MemberCPU': 'memberCPU', 'DatabaseGrowth': 'databaseGrowth'}[self.type] + ' and no other: set it, and remove the fields of other types'"
// +union
type Objective struct {
	// name of the objective, unique in the run. Its result has the same name.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and hyphens, and begin and end with a letter or digit"
	Name string `json:"name"`

	// type is what the objective limits.
	// Measured by the client pods: Latency, Throughput, ErrorRatio, AchievedRate
	// or StartSkew.
	// From the members' own metrics of the measured window: WALFsync,
	// BackendCommit, PeerRoundTrip, LeaderChanges, SlowApplies, FailedProposals,
	// MemberMemory, MemberCPU or DatabaseGrowth. The worst member decides.
	//
	// +required
	// +unionDiscriminator
	Type spec.ObjectiveType `json:"type"`

	// latency sets the highest value of a statistic of latency.
	//
	// +optional
	Latency *LatencyObjective `json:"latency,omitempty"`

	// throughput sets the lowest number of successful requests per second.
	//
	// +optional
	Throughput *ThroughputObjective `json:"throughput,omitempty"`

	// errorRatio sets the highest share of failed requests.
	//
	// +optional
	ErrorRatio *ErrorRatioObjective `json:"errorRatio,omitempty"`

	// achievedRate sets the lowest share of load.rate that must succeed.
	//
	// +optional
	AchievedRate *AchievedRateObjective `json:"achievedRate,omitempty"`

	// startSkew sets the longest time between the start of the first and of the
	// last pod.
	//
	// +optional
	StartSkew *StartSkewObjective `json:"startSkew,omitempty"`

	// walFsync sets the longest time to flush the write-ahead log.
	//
	// +optional
	WALFsync *MemberDurationObjective `json:"walFsync,omitempty"`

	// backendCommit sets the longest time to commit the database.
	//
	// +optional
	BackendCommit *MemberDurationObjective `json:"backendCommit,omitempty"`

	// peerRoundTrip sets the longest round trip between members. A member observes
	// two for each peer in 30 s. In a cluster of three, a window of less than four
	// minutes makes the objective Unknown.
	//
	// +optional
	PeerRoundTrip *MemberDurationObjective `json:"peerRoundTrip,omitempty"`

	// leaderChanges sets how often a member may see the leader change.
	//
	// +optional
	LeaderChanges *MemberCountObjective `json:"leaderChanges,omitempty"`

	// slowApplies sets how many requests, reads included, may take a member longer
	// to apply than its own limit (100 ms by default).
	//
	// +optional
	SlowApplies *MemberCountObjective `json:"slowApplies,omitempty"`

	// failedProposals sets how many proposals of a member may fail.
	//
	// +optional
	FailedProposals *MemberCountObjective `json:"failedProposals,omitempty"`

	// memberMemory sets the largest resident memory of a member, including mapped
	// pages of the database.
	//
	// +optional
	MemberMemory *MemberBytesObjective `json:"memberMemory,omitempty"`

	// memberCPU sets how much processor time a member may use.
	//
	// +optional
	MemberCPU *MemberCPUObjective `json:"memberCPU,omitempty"`

	// databaseGrowth sets how much a member's database may grow.
	//
	// +optional
	DatabaseGrowth *MemberBytesObjective `json:"databaseGrowth,omitempty"`
}

// LatencyObjective limits a statistic of latency.
type LatencyObjective struct {
	// operation is the kind of request or event whose latency is limited. It must
	// be one that the workload measures.
	//
	// +required
	Operation spec.Operation `json:"operation"`

	// statistic is Mean, P50, P90, P95, P99, P999 (99.9 %), Max or Stddev.
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
	// minPerSecond is the lowest number of successful requests per second, over
	// all pods and operations, that meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	MinPerSecond int64 `json:"minPerSecond"`
}

// ErrorRatioObjective limits the share of failed requests.
type ErrorRatioObjective struct {
	// maxPerMillion is the highest share of failed requests, per million, that
	// meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MaxPerMillion int64 `json:"maxPerMillion"`
}
