package v1alpha1

// AchievedRateObjective sets the lowest share of the offered rate that must
// succeed.
type AchievedRateObjective struct {
	// minPercent is the lowest share of load.rate, in percent, that must succeed
	// within the window.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MinPercent int32 `json:"minPercent"`
}

// StartSkewObjective limits the start skew of the client pods.
type StartSkewObjective struct {
	// maxMicroseconds is the longest time between the start of the first and of
	// the last pod that meets the objective, in microseconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600000000
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

// MemberStatistic is a statistic of a member's own histogram.
//
// +kubebuilder:validation:Enum=Mean;P99
type MemberStatistic string

const (
	// MemberStatisticMean is exact.
	MemberStatisticMean MemberStatistic = "Mean"
	// MemberStatisticP99 is known only as the bounds of the member's own bucket,
	// each twice as wide as the one before. With a limit inside the bucket the
	// objective is Unknown.
	MemberStatisticP99 MemberStatistic = "P99"
)

// MemberDurationObjective limits how long something took each member. With
// fewer than 30 observations in the window it is Unknown.
type MemberDurationObjective struct {
	// statistic is Mean (exact) or P99 (known as the bounds of a histogram
	// bucket). Default Mean.
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
	// maxMillicores is the highest mean use of processors that meets the
	// objective, in thousandths of a processor.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024000
	MaxMillicores int64 `json:"maxMillicores"`
}

// MemberSummary is what one member's own metrics show of the measured window:
// their increase from its start to its end. Metrics that the member does not
// serve are absent.
type MemberSummary struct {
	// id of the member, in hexadecimal.
	//
	// +required
	ID string `json:"id"`

	// name of the member.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// unknown says why this member has no figures.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unknown string `json:"unknown,omitempty"`

	// sampledMicroseconds is the time between the first and the last sample of the
	// member's metrics.
	//
	// +optional
	SampledMicroseconds int64 `json:"sampledMicroseconds,omitempty"`

	// walFsync is how long flushes of the write-ahead log to disk took. One flush
	// serves many writes.
	//
	// +optional
	WALFsync *MemberDuration `json:"walFsync,omitempty"`

	// backendCommit is how long commits of the database to disk took. A write does
	// not wait for its own commit, but nothing is applied during a commit.
	//
	// +optional
	BackendCommit *MemberDuration `json:"backendCommit,omitempty"`

	// peerRoundTrip is the round trip to the other members. It is a moving
	// average: a member observes two for each peer in 30 s.
	//
	// +optional
	PeerRoundTrip *MemberDuration `json:"peerRoundTrip,omitempty"`

	// apply is how long it took to apply agreed requests to the store. Only the
	// mean is given.
	//
	// +optional
	Apply *MemberDuration `json:"apply,omitempty"`

	// ping is how long the member took to answer pings of client pod 0. A ping is
	// no request to etcd.
	//
	// +optional
	Ping *MemberPing `json:"ping,omitempty"`

	// leaderChanges is how many changes of the leader the member saw.
	//
	// +optional
	LeaderChanges *int64 `json:"leaderChanges,omitempty"`

	// slowApplies is how many requests, reads included, took longer to apply than
	// the member's own limit.
	//
	// +optional
	SlowApplies *int64 `json:"slowApplies,omitempty"`

	// slowReadIndexes is how many linearizable reads waited for a quorum longer
	// than the member's own limit.
	//
	// +optional
	SlowReadIndexes *int64 `json:"slowReadIndexes,omitempty"`

	// failedProposals is how many proposals of the member failed.
	//
	// +optional
	FailedProposals *int64 `json:"failedProposals,omitempty"`

	// pendingProposals is the highest number of waiting proposals in any sample.
	//
	// +optional
	PendingProposals *int64 `json:"pendingProposals,omitempty"`

	// cpuMillicores is the mean use of processors, in thousandths of a processor.
	//
	// +optional
	CPUMillicores *int64 `json:"cpuMillicores,omitempty"`

	// cpuHighestMillicores is the highest use of processors over a second, in
	// thousandths of a processor. Only of members that the run starts.
	//
	// +optional
	CPUHighestMillicores *int64 `json:"cpuHighestMillicores,omitempty"`

	// processors is how many processors the member may use at a time (its
	// GOMAXPROCS).
	//
	// +optional
	Processors *int64 `json:"processors,omitempty"`

	// memoryBytes is the largest resident memory in any sample, including mapped
	// pages of the database. A member that the run starts is sampled every 100 ms.
	//
	// +optional
	MemoryBytes *int64 `json:"memoryBytes,omitempty"`

	// memoryStartBytes is the resident memory at the start of the window.
	//
	// +optional
	MemoryStartBytes *int64 `json:"memoryStartBytes,omitempty"`

	// databaseBytes is the size of the database at the end of the window.
	//
	// +optional
	DatabaseBytes *int64 `json:"databaseBytes,omitempty"`

	// databaseGrowthBytes is how much the database grew. Below 0 it shrank.
	//
	// +optional
	DatabaseGrowthBytes *int64 `json:"databaseGrowthBytes,omitempty"`

	// clientReceivedBytes is how many bytes the member received from clients over
	// gRPC.
	//
	// +optional
	ClientReceivedBytes *int64 `json:"clientReceivedBytes,omitempty"`

	// clientSentBytes is how many bytes the member sent to clients over gRPC.
	//
	// +optional
	ClientSentBytes *int64 `json:"clientSentBytes,omitempty"`

	// peerReceivedBytes is how many bytes the member received from other members.
	//
	// +optional
	PeerReceivedBytes *int64 `json:"peerReceivedBytes,omitempty"`

	// peerSentBytes is how many bytes the member sent to other members.
	//
	// +optional
	PeerSentBytes *int64 `json:"peerSentBytes,omitempty"`

	// storageReadBytes is how many bytes the member's process read from storage.
	// Only of members that the run starts.
	//
	// +optional
	StorageReadBytes *int64 `json:"storageReadBytes,omitempty"`

	// storageWrittenBytes is how many bytes the member's process wrote to storage.
	// Only of members that the run starts.
	//
	// +optional
	StorageWrittenBytes *int64 `json:"storageWrittenBytes,omitempty"`

	// podReceivedBytes is how many bytes the member's pod received. Only of
	// members that the run starts in a cluster.
	//
	// +optional
	PodReceivedBytes *int64 `json:"podReceivedBytes,omitempty"`

	// podSentBytes is how many bytes the member's pod sent. Only of members that
	// the run starts in a cluster.
	//
	// +optional
	PodSentBytes *int64 `json:"podSentBytes,omitempty"`

	// kubelet has figures of the member's pod, or why there are none. Absent: the
	// run started its members, or had no cluster.
	//
	// +optional
	Kubelet *KubeletFigures `json:"kubelet,omitempty"`

	// log has the lines of the member's log that can explain the course. Only of
	// members of a run without a cluster.
	//
	// +optional
	// +listType=map
	// +listMapKey=kind
	// +kubebuilder:validation:MaxItems=4
	Log []MemberLog `json:"log,omitempty"`
}

// MemberDuration is how often a member did something in the window, and how
// long it took.
type MemberDuration struct {
	// count is how many observations were made.
	//
	// +optional
	Count int64 `json:"count"`

	// meanNanoseconds is the exact mean.
	//
	// +optional
	MeanNanoseconds int64 `json:"meanNanoseconds"`

	// p99AboveMicroseconds is the lower bound of the bucket with the 99th
	// percentile, in the member's own histogram.
	//
	// +optional
	P99AboveMicroseconds *int64 `json:"p99AboveMicroseconds,omitempty"`

	// p99AtMostMicroseconds is the upper bound of that bucket. Absent: the bucket
	// has none.
	//
	// +optional
	P99AtMostMicroseconds *int64 `json:"p99AtMostMicroseconds,omitempty"`

	// estimatesMicroseconds are p50, p90 and p99 as Prometheus estimates them.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=3
	EstimatesMicroseconds []int64 `json:"estimatesMicroseconds,omitempty"`
}

// MemberPing has the times of network pings from client pod 0 to a member.
type MemberPing struct {
	// count is how many pings were answered within a second. Others do not count.
	//
	// +optional
	Count int64 `json:"count"`

	// p50Microseconds is the median.
	//
	// +optional
	P50Microseconds int64 `json:"p50Microseconds"`

	// maxMicroseconds is the longest one.
	//
	// +optional
	MaxMicroseconds int64 `json:"maxMicroseconds"`
}

// Resource is something that a request can wait for.
//
// +kubebuilder:validation:Enum=Disk;Network;CPU;Apply;Maintenance;Unexplained
type Resource string

// The resources of evidence.
const (
	ResourceDisk    Resource = "Disk"
	ResourceNetwork Resource = "Network"
	ResourceCPU     Resource = "CPU"
	ResourceApply   Resource = "Apply"
	// ResourceMaintenance is defragmenting the database and deleting old revisions from it.
	ResourceMaintenance Resource = "Maintenance"
	// ResourceUnexplained is what the other resources do not account for.
	ResourceUnexplained Resource = "Unexplained"
)

// Evidence is what the numbers show about one resource.
type Evidence struct {
	// resource is Disk, Network, CPU, Apply, Maintenance or Unexplained.
	//
	// +required
	Resource Resource `json:"resource"`

	// message says what was measured.
	//
	// +required
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message"`
}
