package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Version is the version of the plan's format that this package writes and reads.
const Version = 2

// MaxBytes bounds an encoded plan.
const MaxBytes = 64 << 10

// Plan is what all client pods of one run do together. Numbers are totals over
// all pods.
type Plan struct {
	Version int `json:"version"`
	// RunUID is the full UID of the run; it is the content of the marker that
	// owns Prefix.
	RunUID string `json:"runUID"`
	// Name is namespace/name of the run, for messages to people.
	Name string `json:"name"`
	workload.Run
	Target Target     `json:"target"`
	Guard  spec.Guard `json:"guard"`
	// AwaitTurn: other runs may load the same cluster, so that a pod writes
	// nothing before TurnFile says that it may.
	AwaitTurn bool `json:"awaitTurn,omitempty"`
	// TimeoutSeconds bounds the pod's life from its start, or from its turn, so
	// that a pod whose operator is gone still ends.
	TimeoutSeconds int `json:"timeoutSeconds"`
}

// Target is where the load goes: the addresses to which the target of the API was
// resolved.
type Target struct {
	Datastore spec.Datastore `json:"datastore"`
	// Endpoints are host:port of the members.
	Endpoints []string             `json:"endpoints"`
	Members   spec.MemberSelection `json:"members"`
	// SampleIntervalSeconds lies between two looks at the members' own metrics
	// within the measured window; 0 is defaultSampleInterval.
	SampleIntervalSeconds int `json:"sampleIntervalSeconds,omitempty"`
	// TLS is set where the target serves TLS; AuthDir and TLSDir are then read.
	TLS *TLS `json:"tls,omitempty"`
	// Auth is set where a user logs in.
	Auth *Auth `json:"auth,omitempty"`
}

// defaultSampleInterval is that of the API.
const defaultSampleInterval = 5 * time.Second

// SampleInterval lies between two looks at the members' own metrics.
func (t Target) SampleInterval() time.Duration {
	if t.SampleIntervalSeconds == 0 {
		return defaultSampleInterval
	}
	return time.Duration(t.SampleIntervalSeconds) * time.Second
}

// TLS says where the certificates are.
type TLS struct {
	// Dir holds CAFile, and CertFile and KeyFile if there is a client certificate.
	Dir string `json:"dir"`
	// SecretName is named in messages to people.
	SecretName string `json:"secretName"`
	// ServerName overrides the host of each address in the check of certificates.
	ServerName string `json:"serverName,omitempty"`
}

// Auth says where user and password are.
type Auth struct {
	// Dir holds UsernameFile and PasswordFile.
	Dir string `json:"dir"`
	// SecretName is named in messages to people.
	SecretName string `json:"secretName"`
}

// WatchesForOthers says whether client pod 0 watches the target while other pods
// load it and it does no more: bound by requests, pods do not end together.
func (p Plan) WatchesForOthers() bool {
	return p.Load.Pods > 1 && p.Load.Requests != nil && p.Guard.Rules().OfTarget()
}

// Encode returns the plan as JSON, in the form that Decode reads.
func (p Plan) Encode() ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return json.MarshalIndent(p, "", "  ")
}

// Decode reads and validates a plan. Unknown fields are errors: a load
// generator must not run a plan of which it understands only a part.
func Decode(data []byte) (Plan, error) {
	if len(data) > MaxBytes {
		return Plan{}, fmt.Errorf("plan has %d bytes, more than the limit of %d", len(data), MaxBytes)
	}
	var p Plan
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("reading plan (operator and client image must be of the same version): %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Plan{}, errors.New("reading plan: wanted one JSON document, found more after it")
	}
	return p, p.Validate()
}

// Digest is the SHA-256 of an encoded plan, in hexadecimal.
func Digest(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
