package spec

// ObjectiveType is what an objective limits.
//
// +kubebuilder:validation:Enum=Latency;Throughput;ErrorRatio;AchievedRate;StartSkew;WALFsync;BackendCommit;PeerRoundTrip;LeaderChanges;SlowApplies;FailedProposals;MemberMemory;MemberCPU;DatabaseGrowth
type ObjectiveType string

// The objectives.
const (
	// ObjectiveLatency limits a statistic of latency from above.
	ObjectiveLatency ObjectiveType = "Latency"
	// ObjectiveThroughput limits successful requests per second from below.
	ObjectiveThroughput ObjectiveType = "Throughput"
	// ObjectiveErrorRatio limits the share of failed requests from above.
	ObjectiveErrorRatio ObjectiveType = "ErrorRatio"
	// ObjectiveAchievedRate sets the lowest share of the offered rate that must
	// succeed.
	ObjectiveAchievedRate ObjectiveType = "AchievedRate"
	// ObjectiveStartSkew limits the time between the pods' starts.
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

// ofClients returns the objectives that client pods measure.
func ofClients() []ObjectiveType {
	return []ObjectiveType{ObjectiveLatency, ObjectiveThroughput, ObjectiveErrorRatio, ObjectiveAchievedRate, ObjectiveStartSkew}
}

// ofMembers returns the objectives that need the members' own metrics.
func ofMembers() []ObjectiveType {
	return []ObjectiveType{
		ObjectiveWALFsync, ObjectiveBackendCommit, ObjectivePeerRoundTrip, ObjectiveLeaderChanges, ObjectiveSlowApplies,
		ObjectiveFailedProposals, ObjectiveMemberMemory, ObjectiveMemberCPU, ObjectiveDatabaseGrowth,
	}
}
