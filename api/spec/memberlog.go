package spec

// LogKind is a kind of line in the log of a member that can explain the course
// of a run.
//
// +kubebuilder:validation:Enum=Election;Snapshot;SlowFlush;SlowApply
type LogKind string

// The kinds of lines.
const (
	LogElection LogKind = "Election"
	LogSnapshot LogKind = "Snapshot"
	// LogSlowFlush is a flush of the log to disk that took longer than the member's own limit, LogSlowApply the same of
	// applying a request.
	LogSlowFlush LogKind = "SlowFlush"
	LogSlowApply LogKind = "SlowApply"
)
