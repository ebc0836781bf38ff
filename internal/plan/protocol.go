package plan

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Times of the signs of life. A client pod shows the store that it lives, and sends only while the store has confirmed
// that.
const (
	// SignEvery is the interval of the signs.
	SignEvery = 20 * time.Second
	// SendFor is how long after its last confirmed sign the pod sends.
	SendFor = 40 * time.Second
	// stillMargin is for what a sign and a request need beside SendFor and the request's time-out.
	stillMargin = 20 * time.Second
)

// StillFor is how long the signs of a pod must not have changed until none of its requests is in flight any more.
func StillFor(requestTimeout time.Duration) time.Duration {
	return SendFor + stillMargin + requestTimeout
}

// Files, annotations and addresses of a client pod. The pod reads annotations from a downward API volume, which has one
// file per annotation. The file is empty while the annotation is not set.
const (
	// Dir holds File; the operator mounts the run's ConfigMap there.
	Dir = "/etc/etcdbench/plan"
	// File is the name of the plan in Dir and in the ConfigMap.
	File = "plan.json"
	// DigestFlag is the client pod's flag with the Digest of its plan. The flag is part of the pod's template, which
	// cannot be changed; a ConfigMap can be replaced. The pod has the target's credentials, so it accepts no other plan.
	DigestFlag = "plan-sha256"
	// PodTimeoutFlag is the cleanup's flag for how long it waits while a client pod still shows that it lives.
	PodTimeoutFlag = "pod-timeout"
	// ExitStillWrites is the exit status of a cleanup that deleted nothing, because a client pod may still write.
	ExitStillWrites = 3
	// ControlDir holds the files StartAtFile, StopFile and CollectedFile.
	ControlDir = "/etc/etcdbench/control"
	// TLSDir holds ca.crt, tls.crt and tls.key of the target's Secret.
	TLSDir = "/etc/etcdbench/tls"
	// AuthDir holds user or token of the target's Secret.
	AuthDir = "/etc/etcdbench/auth"
	// DiskDir is where the volume of a target that is a disk is mounted.
	DiskDir = "/disk"

	// StartAtFile and AnnotationStartAt carry the common start time as RFC 3339 with nanoseconds.
	StartAtFile = "start-at"
	// AdmittedFile and AnnotationAdmitted are "true" when client pod 0 may take the target's lock, and when the other pods
	// may write, because the run holds it.
	AdmittedFile = "admitted"
	// StopFile and AnnotationStop end the load early when they are "true".
	StopFile = "stop"
	// CollectedFile and AnnotationCollected are "true" when the operator has the pod's final result. The pod may then end.
	CollectedFile = "collected"

	AnnotationStartAt   = "etcdbench.dev/start-at"
	AnnotationAdmitted  = "etcdbench.dev/admitted"
	AnnotationStop      = "etcdbench.dev/stop"
	AnnotationCollected = "etcdbench.dev/collected"

	// IndexEnv is the environment variable with the pod's index. Kubernetes sets it on the pods of an Indexed Job.
	IndexEnv = "JOB_COMPLETION_INDEX"

	// MetricsPort serves MetricsPath, CoursePath and ReadyPath over plain HTTP.
	MetricsPort = 9090
	MetricsPath = "/metrics"
	// CoursePath is what happened over the window, as JSON. It answers 404 until the pod has measured.
	CoursePath = "/course"
	// ReadyPath answers 200 from when the pod waits for the start.
	ReadyPath = "/readyz"

	// SamplerPort serves what the sampler of a member's pod has measured. ReadyPath answers 200 there if the member serves.
	SamplerPort = 2381
	// DatastoreFlag is the flag of a sampler with the store of its member.
	DatastoreFlag = "datastore"

	// TerminationMessageFile is where the final result is also written.
	TerminationMessageFile = "/dev/termination-log"
	// CollectGraceSeconds is how long a finished pod serves its final metrics while it waits for CollectedFile.
	CollectGraceSeconds = 120
)

// The files of the target's Secrets.
const (
	CAFile       = "ca.crt"
	CertFile     = "tls.crt"
	KeyFile      = "tls.key"
	UsernameFile = spec.UsernameFile
	PasswordFile = spec.PasswordFile
	TokenFile    = spec.TokenFile
)
