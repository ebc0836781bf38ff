package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Version is the version of the plan's format that this package writes and reads.
const Version = 1

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
	// Pods is the number of client pods.
	Pods int `json:"pods"`
	// Prefix lies before every key of the run.
	Prefix string `json:"prefix"`
	// FirstLease is the lowest of the LeaseIDs IDs of the run's leases; 0 where
	// it needs none.
	FirstLease int64    `json:"firstLease,omitempty"`
	Target     Target   `json:"target"`
	Workload   Workload `json:"workload"`
	Load       Load     `json:"load"`
	Guard      Guard    `json:"guard,omitzero"`
	// Disturbances happen beside the load, each kind once at most.
	Disturbances []Disturbance `json:"disturbances,omitempty"`
	// AwaitTurn: other runs may load the same cluster, so that a pod writes
	// nothing before TurnFile says that it may.
	AwaitTurn bool `json:"awaitTurn,omitempty"`
	// TimeoutSeconds bounds the pod's life from its start, or from its turn, so
	// that a pod whose operator is gone still ends.
	TimeoutSeconds int `json:"timeoutSeconds"`
}

// Members says which members of the target receive load.
type Members string

// The selections of members.
const (
	MembersAll       Members = "All"
	MembersLeader    Members = "Leader"
	MembersFollowers Members = "Followers"
)

// Target is where the load goes.
type Target struct {
	// Endpoints are host:port of the members.
	Endpoints []string `json:"endpoints"`
	Members   Members  `json:"members"`
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

// WorkloadType is what one request does.
type WorkloadType string

// The workloads.
const (
	WorkloadPut   WorkloadType = "Put"
	WorkloadRange WorkloadType = "Range"
	WorkloadMixed WorkloadType = "Mixed"
	// WorkloadDelete deletes each key once.
	WorkloadDelete WorkloadType = "Delete"
)

// Workload is what the requests do.
type Workload struct {
	Type WorkloadType `json:"type"`
	// Serializable reads are answered by the contacted member alone.
	Serializable bool `json:"serializable,omitempty"`
	// ReadsPerHundred is the share of reads of WorkloadMixed.
	ReadsPerHundred int `json:"readsPerHundred,omitempty"`
	// InTransaction makes each operation of WorkloadMixed the only one of a
	// transaction.
	InTransaction bool `json:"inTransaction,omitempty"`
	// KeySize is the length of a key in bytes after Plan.Prefix.
	KeySize int `json:"keySize"`
	// ValueSize is the length of a value in bytes, the greatest if they differ.
	ValueSize int      `json:"valueSize"`
	Values    Values   `json:"values,omitzero"`
	KeyCount  int64    `json:"keyCount"`
	KeyOrder  KeyOrder `json:"keyOrder"`
	// Interval is what requests of WorkloadRange read.
	Interval Interval `json:"interval,omitzero"`
	// Demand of an uneven KeyOrder.
	Demand Demand `json:"demand,omitzero"`
	// Txn is set for WorkloadTxn alone.
	Txn *Txn `json:"txn,omitempty"`
	// STM is set for WorkloadSTM alone.
	STM *STM `json:"stm,omitempty"`
	// Contest is set for WorkloadLock and WorkloadElection alone, which have no
	// keys but those of their locks.
	Contest *Contest `json:"contest,omitempty"`
	// Lease is set for WorkloadLease alone, which has no keys.
	Lease *Lease `json:"lease,omitempty"`
	// Watch is set for WorkloadWatch alone.
	Watch *Watch `json:"watch,omitempty"`
	// WatchGet is set for WorkloadWatchGet alone.
	WatchGet *WatchGet `json:"watchGet,omitempty"`
	// Kubernetes is set for WorkloadKubernetes alone, which has no KeyCount.
	Kubernetes *Kubernetes `json:"kubernetes,omitempty"`
}

// PreloadsKeys says whether the key space is written before the load starts.
func (w Workload) PreloadsKeys() bool {
	switch w.Type {
	case WorkloadPut, WorkloadLease, WorkloadLock, WorkloadElection, WorkloadKubernetes:
		return false
	case WorkloadTxn:
		return w.Txn.CompareAndSwap()
	default:
		return true
	}
}

// The transports of Load.Transport.
const (
	TransportClientV3 = "ClientV3"
	TransportFast     = "Fast"
)

// Load is how many requests are sent, by how many clients, how fast.
type Load struct {
	// Transport is the client implementation that carries the load.
	Transport   string `json:"transport"`
	Connections int    `json:"connections"`
	Clients     int    `json:"clients"`
	// Requests bounds the measured requests; 0 where DurationSeconds does.
	Requests        int64 `json:"requests,omitempty"`
	DurationSeconds int   `json:"durationSeconds,omitempty"`
	WarmupSeconds   int   `json:"warmupSeconds,omitempty"`
	// RequestTimeoutSeconds is when a request counts as failed.
	RequestTimeoutSeconds int `json:"requestTimeoutSeconds"`
	// RatePerSecond of an open-loop load; 0 without Stages is a closed loop.
	RatePerSecond int64 `json:"ratePerSecond,omitempty"`
	// Stages of the measured window of an open-loop load whose rate changes;
	// their seconds add up to DurationSeconds.
	Stages []Stage `json:"stages,omitempty"`
	// Poisson: the requests of an open-loop load start at random.
	Poisson bool `json:"poisson,omitempty"`
	// Seed of the pseudo-random choices.
	Seed int64 `json:"seed"`
}

// fitsFast says whether the Fast transport carries the workload: whether each
// of its requests is answered once.
func (w Workload) fitsFast() bool {
	switch w.Type {
	case WorkloadPut, WorkloadDelete, WorkloadRange, WorkloadMixed, WorkloadTxn:
		return w.Interval.isWhole() && !w.InTransaction
	case WorkloadLease:
		return w.Lease == nil || w.Lease.Operation != LeaseKeepAlive
	}
	return false
}

// Warmup is the length of the warm-up.
func (l Load) Warmup() time.Duration { return time.Duration(l.WarmupSeconds) * time.Second }

// Duration is the length of the measured window, 0 if Requests bounds it.
func (l Load) Duration() time.Duration { return time.Duration(l.DurationSeconds) * time.Second }

// RequestTimeout is when a request counts as failed.
func (l Load) RequestTimeout() time.Duration {
	return time.Duration(l.RequestTimeoutSeconds) * time.Second
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
