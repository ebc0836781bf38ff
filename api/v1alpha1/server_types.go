package v1alpha1

// The objectives beside Latency, Throughput and ErrorRatio.
const (
	// ObjectiveAchievedRate limits the share of the offered rate that succeeded
	// from below.
	ObjectiveAchievedRate ObjectiveType = "AchievedRate"
	// ObjectiveStartSkew limits the distance between the pods' starts.
	ObjectiveStartSkew ObjectiveType = "StartSkew"
	// ObjectiveWALFsync limits flushes of the members' logs.
	ObjectiveWALFsync ObjectiveType = "WALFsync"
	// ObjectiveBackendCommit limits commits of the members' databases.
	ObjectiveBackendCommit ObjectiveType = "BackendCommit"
	// ObjectivePeerRoundTrip limits round trips between members.
	ObjectivePeerRoundTrip ObjectiveType = "PeerRoundTrip"
	// ObjectiveLeaderChanges limits changes of the leader.
	ObjectiveLeaderChanges ObjectiveType = "LeaderChanges"
	// ObjectiveSlowApplies limits requests that were slow to apply.
	ObjectiveSlowApplies ObjectiveType = "SlowApplies"
	// ObjectiveFailedProposals limits proposals that failed.
	ObjectiveFailedProposals ObjectiveType = "FailedProposals"
	// ObjectiveMemberMemory limits the members' resident memory.
	ObjectiveMemberMemory ObjectiveType = "MemberMemory"
	// ObjectiveMemberCPU limits the members' use of processors.
	ObjectiveMemberCPU ObjectiveType = "MemberCPU"
	// ObjectiveDatabaseGrowth limits the growth of the members' databases.
	ObjectiveDatabaseGrowth ObjectiveType = "DatabaseGrowth"
)

// AchievedRateObjective limits the share of the offered rate that succeeded.
type AchievedRateObjective struct {
	// minPercent is the lowest share of load.rate, in percent, that must have
	// succeeded within the window.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MinPercent int32 `json:"minPercent"`
}

// StartSkewObjective limits the start skew of the client pods.
type StartSkewObjective struct {
	// maxMicroseconds is the longest time between the first and the last pod's
	// start that meets the objective, in microseconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600000000
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

// MemberStatistic is one number of what a member's own histogram shows.
//
// +kubebuilder:validation:Enum=Mean;P99
type MemberStatistic string

const (
	// MemberStatisticMean is exact.
	MemberStatisticMean MemberStatistic = "Mean"
	// MemberStatisticP99 is known as the bounds of the member's own bucket, each
	// twice as wide as the one before: a limit within the bucket is Unknown.
	MemberStatisticP99 MemberStatistic = "P99"
)

// MemberDurationObjective limits how long something took each member. With
// fewer than 30 observations in the window it is Unknown.
type MemberDurationObjective struct {
	// statistic is Mean or P99. Default Mean.
	//
	// +optional
	// +kubebuilder:default=Mean
	Statistic MemberStatistic `json:"statistic,omitempty"`

	// maxMicroseconds is the highest value that meets the objective, in
	// microseconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600000000
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

// MemberCountObjective limits how often something happened to each member.
type MemberCountObjective struct {
	// max is the highest number that meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	Max int64 `json:"max"`
}

// MemberBytesObjective limits a size of each member.
type MemberBytesObjective struct {
	// maxBytes is the highest number of bytes that meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1125899906842624
	MaxBytes int64 `json:"maxBytes"`
}

// MemberCPUObjective limits the processor time of each member.
type MemberCPUObjective struct {
	// maxMillicores is the highest mean use of processors, in thousandths of
	// one, that meets the objective.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024000
	MaxMillicores int64 `json:"maxMillicores"`
}

// MemberSummary is what one member's own metrics say of the measured window:
// what they rose by from its start to its end. What a member does not serve is
// absent.
type MemberSummary struct {
	// id of the member, in hexadecimal.
	//
	// +required
	ID string `json:"id"`

	// name of the member.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// unknown is why there are no figures of this member.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unknown string `json:"unknown,omitempty"`

	// sampledMicroseconds is the time between the two samples of the member's
	// metrics.
	//
	// +optional
	SampledMicroseconds int64 `json:"sampledMicroseconds,omitempty"`

	// walFsync is how the write-ahead log was flushed to disk. One flush serves
	// many writes.
	//
	// +optional
	WALFsync *MemberDuration `json:"walFsync,omitempty"`

	// backendCommit is how the database was committed to disk, which no write
	// waits for.
	//
	// +optional
	BackendCommit *MemberDuration `json:"backendCommit,omitempty"`

	// peerRoundTrip to the other members: moving averages, of which a member
	// observes two for each peer in 30 s.
	//
	// +optional
	PeerRoundTrip *MemberDuration `json:"peerRoundTrip,omitempty"`

	// apply is how agreed requests were applied to the store. Only the mean is
	// told.
	//
	// +optional
	Apply *MemberDuration `json:"apply,omitempty"`

	// leaderChanges that the member saw.
	//
	// +optional
	LeaderChanges *int64 `json:"leaderChanges,omitempty"`

	// slowApplies are requests, reads among them, that took longer to apply
	// than the member's own limit.
	//
	// +optional
	SlowApplies *int64 `json:"slowApplies,omitempty"`

	// slowReadIndexes are linearizable reads that waited long for a quorum.
	//
	// +optional
	SlowReadIndexes *int64 `json:"slowReadIndexes,omitempty"`

	// failedProposals of the member.
	//
	// +optional
	FailedProposals *int64 `json:"failedProposals,omitempty"`

	// pendingProposals is the highest number in any sample.
	//
	// +optional
	PendingProposals *int64 `json:"pendingProposals,omitempty"`

	// cpuMillicores is the mean use of processors, in thousandths of one.
	//
	// +optional
	CPUMillicores *int64 `json:"cpuMillicores,omitempty"`

	// processors that the member may use at a time (its GOMAXPROCS).
	//
	// +optional
	Processors *int64 `json:"processors,omitempty"`

	// memoryBytes is the greatest resident memory in any sample, mapped pages
	// of the database included.
	//
	// +optional
	MemoryBytes *int64 `json:"memoryBytes,omitempty"`

	// databaseGrowthBytes is how much the database grew; below 0 it shrank.
	//
	// +optional
	DatabaseGrowthBytes *int64 `json:"databaseGrowthBytes,omitempty"`

	// clientReceivedBytes over gRPC.
	//
	// +optional
	ClientReceivedBytes *int64 `json:"clientReceivedBytes,omitempty"`

	// clientSentBytes over gRPC.
	//
	// +optional
	ClientSentBytes *int64 `json:"clientSentBytes,omitempty"`

	// peerReceivedBytes from the other members.
	//
	// +optional
	PeerReceivedBytes *int64 `json:"peerReceivedBytes,omitempty"`

	// peerSentBytes to the other members.
	//
	// +optional
	PeerSentBytes *int64 `json:"peerSentBytes,omitempty"`
}

// MemberDuration is how often a member did something in the window, and how
// long that took.
type MemberDuration struct {
	// count of observations.
	//
	// +optional
	Count int64 `json:"count"`

	// meanNanoseconds is exact.
	//
	// +optional
	MeanNanoseconds int64 `json:"meanNanoseconds"`

	// p99AboveMicroseconds is the lower bound of the member's own bucket in
	// which the 99th percentile lies.
	//
	// +optional
	P99AboveMicroseconds *int64 `json:"p99AboveMicroseconds,omitempty"`

	// p99AtMostMicroseconds is the upper bound of that bucket. Absent: it has
	// none.
	//
	// +optional
	P99AtMostMicroseconds *int64 `json:"p99AtMostMicroseconds,omitempty"`
}

// Resource is something that a request can wait for.
//
// +kubebuilder:validation:Enum=Disk;Network;CPU;Apply;Unexplained
type Resource string

// The resources of evidence.
const (
	ResourceDisk    Resource = "Disk"
	ResourceNetwork Resource = "Network"
	ResourceCPU     Resource = "CPU"
	ResourceApply   Resource = "Apply"
	// ResourceUnexplained is what the others do not account for.
	ResourceUnexplained Resource = "Unexplained"
)

// Evidence is what numbers show of one resource.
type Evidence struct {
	// resource is Disk, Network, CPU, Apply or Unexplained.
	//
	// +required
	Resource Resource `json:"resource"`

	// message says what was measured.
	//
	// +required
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message"`
}
