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
const Version = 10

// MaxBytes bounds an encoded plan.
const MaxBytes = 64 << 10

// Plan is the work of all client pods of one run. Numbers are totals over all pods.
type Plan struct {
	Version int `json:"version"`
	// RunUID is the full UID of the run. It is also the content of the marker that owns Prefix.
	RunUID string `json:"runUID"`
	// Name is namespace/name of the run, for messages.
	Name string `json:"name"`
	workload.Run
	Target Target     `json:"target"`
	Guard  spec.Guard `json:"guard"`
	// Lock is how the run uses the lock of its target; nil: it does not.
	Lock *Lock `json:"lock,omitempty"`
	// Ephemeral: the members exist for this run alone, which takes no lock and deletes no keys.
	Ephemeral bool `json:"ephemeral,omitempty"`
	// TimeoutSeconds bounds the pod's life, from its start or from when it may write. A pod without an operator therefore
	// ends, too.
	TimeoutSeconds int `json:"timeoutSeconds"`
}

// Lock is how a run uses the lock of its target, which one run at a time holds.
type Lock struct {
	// WaitSeconds is how long the run waits at most for the lock; it writes nothing before. 0: the run does not wait. It
	// takes the lock as soon as it is free, so that others wait for it.
	WaitSeconds int `json:"waitSeconds,omitempty"`
}

// AwaitsLock reports whether the pods write only when the run holds the lock of its target.
func (p Plan) AwaitsLock() bool { return p.Lock != nil && p.Lock.WaitSeconds > 0 }

// Target is where the load goes: the resolved addresses of the API's target.
type Target struct {
	Datastore spec.Datastore `json:"datastore"`
	// Dir is the folder of a client pod that is the target; empty for targets with addresses.
	Dir string `json:"dir,omitempty"`
	// Endpoints are host:port of the members.
	Endpoints []string             `json:"endpoints"`
	Members   spec.MemberSelection `json:"members"`
	// Samplers are host:port of what measures the processes behind Endpoints, in their order; empty: nothing does.
	Samplers []string `json:"samplers,omitempty"`
	// MemberIndex is the index in Endpoints of the only one that gets load; nil: Members decides.
	MemberIndex *int `json:"memberIndex,omitempty"`
	// UnreachableMembers is empty or says what the run does about addresses that do not answer when it starts. Empty means
	// Fail.
	UnreachableMembers spec.UnreachableMembers `json:"unreachableMembers,omitempty"`
	// SampleIntervalSeconds is the time between two samples of the members' own metrics within the measured window. 0
	// means defaultSampleInterval.
	SampleIntervalSeconds int `json:"sampleIntervalSeconds,omitempty"`
	// TLS is set if the target serves TLS.
	TLS *TLS `json:"tls,omitempty"`
	// Auth is set if the target requires a user or a token.
	Auth *Auth `json:"auth,omitempty"`
}

// defaultSampleInterval is the default of the API.
const defaultSampleInterval = 5 * time.Second

// SampleInterval is the time between two samples of the members' own metrics.
func (t Target) SampleInterval() time.Duration {
	if t.SampleIntervalSeconds == 0 {
		return defaultSampleInterval
	}
	return time.Duration(t.SampleIntervalSeconds) * time.Second
}

// Alone returns the only address that gets load; empty if Members decides.
func (t Target) Alone() string {
	if t.MemberIndex == nil {
		return ""
	}
	return t.Endpoints[*t.MemberIndex]
}

// SelectsMembers reports whether some of the members get load, and each address must lead to the same one all the time.
func (t Target) SelectsMembers() bool { return t.MemberIndex != nil || t.Members != spec.MembersAll }

// Selection is the field that selects members, for messages.
func (t Target) Selection() string {
	if t.MemberIndex != nil {
		return fmt.Sprintf("spec.target.memberIndex: %d", *t.MemberIndex)
	}
	return "spec.target.members: " + string(t.Members)
}

// TLS is where the certificates are.
type TLS struct {
	// Dir holds CAFile, and CertFile and KeyFile if there is a client certificate.
	Dir string `json:"dir"`
	// SecretName is the name of the Secret, for messages.
	SecretName string `json:"secretName"`
	// ServerName replaces the host of each address in the check of certificates.
	ServerName string `json:"serverName,omitempty"`
	// Given replaces Dir and SecretName.
	Given Given `json:"-"`
}

// Auth is where the files are that the store's row names.
type Auth struct {
	// Dir holds UsernameFile and PasswordFile, or TokenFile.
	Dir string `json:"dir"`
	// SecretName is the name of the Secret, for messages.
	SecretName string `json:"secretName"`
	// Given replaces Dir and SecretName.
	Given Given `json:"-"`
}

// WatchesForOthers reports whether client pod 0 continues to observe the target after its own requests, while other
// pods still load it. With load.requests, pods do not end together.
func (p Plan) WatchesForOthers() bool {
	return p.Load.Pods > 1 && p.Load.Requests != nil && p.Guard.Rules().OfTarget()
}

// Encode returns the plan as JSON, in the form that Decode reads.
func (p Plan) Encode() ([]byte, error) { return json.MarshalIndent(p, "", "  ") }

// Decode reads and validates a plan. Unknown fields are errors, because a load generator must not run a plan that it
// understands only in part.
func Decode(data []byte) (Plan, error) {
	if len(data) > MaxBytes {
		return Plan{}, fmt.Errorf("reading plan: wanted at most %d bytes, found %d", MaxBytes, len(data))
	}
	var p Plan
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("reading plan (operator and client image must have the same version): %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Plan{}, errors.New("reading plan: wanted one JSON document, found more data after it")
	}
	return p, p.Validate()
}

// Digest is the SHA-256 of an encoded plan, in hexadecimal.
func Digest(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// Given are the credentials of a run without a cluster, by the keys that a Secret would have: CAFile, UsernameFile and
// so on. They take the place of a mounted Secret. A plan for client pods has none.
type Given map[string]Source

// Source is where one of them comes from.
type Source struct {
	// Name is how the user of the command gave it, for messages: --cacert ca.pem.
	Name string
	// Path is its file. Without a path, Content has it.
	Path    string
	Content string
}
