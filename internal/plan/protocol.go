package plan

// Where a client pod finds what it needs, and how it is reached. Annotations
// travel through a downward API volume: one file per annotation, empty while
// the annotation is not set.
const (
	// Dir holds File; the operator mounts the run's ConfigMap there.
	Dir = "/etc/etcdbench/plan"
	// File is the name of the plan in Dir and in the ConfigMap.
	File = "plan.json"
	// DigestFlag names the client pod's flag with the Digest of its plan. It is a
	// part of the pod's template, which cannot be changed as a ConfigMap can be
	// replaced: the pod has the target's credentials, and takes no other plan.
	DigestFlag = "plan-sha256"
	// ControlDir holds the files StartAtFile, StopFile and CollectedFile.
	ControlDir = "/etc/etcdbench/control"
	// TLSDir holds ca.crt, tls.crt and tls.key of the target's Secret.
	TLSDir = "/etc/etcdbench/tls"
	// AuthDir holds username and password of the target's Secret.
	AuthDir = "/etc/etcdbench/auth"

	// StartAtFile and AnnotationStartAt carry the common start as RFC 3339
	// with nanoseconds.
	StartAtFile = "start-at"
	// TurnFile and AnnotationTurn say "true" once a pod whose plan has AwaitTurn
	// may write.
	TurnFile = "turn"
	// StopFile and AnnotationStop end the load early once they say "true".
	StopFile = "stop"
	// CollectedFile and AnnotationCollected say "true" once the operator holds
	// the pod's final result, so that the pod may end.
	CollectedFile = "collected"

	AnnotationStartAt   = "etcdbench.dev/start-at"
	AnnotationTurn      = "etcdbench.dev/turn"
	AnnotationStop      = "etcdbench.dev/stop"
	AnnotationCollected = "etcdbench.dev/collected"

	// IndexEnv is the environment variable with the pod's index; Kubernetes
	// sets it on the pods of an Indexed Job.
	IndexEnv = "JOB_COMPLETION_INDEX"

	// MetricsPort serves MetricsPath and ReadyPath over plain HTTP.
	MetricsPort = 9090
	MetricsPath = "/metrics"
	// ReadyPath answers 200 once the pod waits for the start, and from then on.
	ReadyPath = "/readyz"

	// TerminationMessageFile is where the final result is also written.
	TerminationMessageFile = "/dev/termination-log"
	// CollectGraceSeconds is how long a finished pod keeps serving its final
	// metrics while it waits for CollectedFile.
	CollectGraceSeconds = 120
)

// The files of the target's Secrets.
const (
	CAFile       = "ca.crt"
	CertFile     = "tls.crt"
	KeyFile      = "tls.key"
	UsernameFile = "username"
	PasswordFile = "password"
)
