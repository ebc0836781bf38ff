package spec

import "time"

// Load says how many requests are sent, by how many clients, and how fast. All
// numbers are totals over all client pods.
//
// +kubebuilder:validation:XValidation:rule="self.connections < 1 || self.pods <= self.connections",messageExpression="'must be at least load.pods (%d), found %d (default 1): each pod needs a connection; raise connections or lower pods'.format([self.pods, self.connections])",fieldPath=".connections"
// +kubebuilder:validation:XValidation:rule="self.clients < 1 || self.connections <= self.clients",messageExpression="'must be at least load.connections (%d), found %d (default 1): a connection without a client would send nothing; raise clients or lower connections'.format([self.connections, self.clients])",fieldPath=".clients"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.durationSeconds)",message="set load.requests or load.durationSeconds, or neither with load.rate.stages: found both"
// +kubebuilder:validation:XValidation:rule="!has(self.rate) || !has(self.rate.stages) || !has(self.requests) && !has(self.durationSeconds)",message="cannot be combined with load.requests or load.durationSeconds: the seconds of the stages add up to the duration; remove these",fieldPath=".rate.stages"
// +kubebuilder:validation:XValidation:rule="!has(self.rate) || !has(self.rate.ramp) || has(self.durationSeconds)",message="needs load.durationSeconds instead of load.requests: the rate changes over that time",fieldPath=".rate.ramp"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || self.requests < 1 || self.requests >= self.pods",messageExpression="'must be at least load.pods (%d), found %d: each pod needs a request; raise requests or lower pods'.format([self.pods, self.requests])",fieldPath=".requests"
type Load struct {
	// transport is one of:
	// - Client: the store's usual Go library, for etcd clientv3.
	// - Fast: this project's own client, which needs much less processor time. It
	//   carries only workloads whose requests have one response each.
	// - JSON: HTTP/1.1 and JSON, to etcd's gRPC gateway: each member translates
	//   the request and calls itself, which is another load for etcd. clients must
	//   equal connections.
	// - V2: HTTP/1.1 to the v2 API of etcd 3.4 and 3.5, a store of its own in
	//   memory, on members of target.ephemeral alone. It stores text: a letter for
	//   each byte of a value. clients must equal connections.
	//
	// Every result names the transport. Default Client.
	//
	// +optional
	// +kubebuilder:default=Client
	Transport Transport `json:"transport,omitempty"`

	// pods is the number of client pods. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Pods int32 `json:"pods,omitempty"`

	// connections is the number of TCP connections that carry the load. Connection
	// j goes to member j mod members. At least one per pod is needed. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Connections int32 `json:"connections,omitempty"`

	// clients is the number of simulated clients. Each has at most one request in
	// flight. Client i uses connection i mod connections. At least one per
	// connection is needed. For workload.type Fetch, each client is one process.
	// Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Clients int32 `json:"clients,omitempty"`

	// requests is how many requests are measured. Warm-up and preload are not
	// counted. Set either requests or durationSeconds, or rate.stages. Not
	// possible with rate.ramp. Type Fetch sends one for each client.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000000
	Requests *int64 `json:"requests,omitempty"`

	// durationSeconds is the length of the measured window in seconds. Set either
	// durationSeconds or requests, or rate.stages.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DurationSeconds *int32 `json:"durationSeconds,omitempty"`

	// warmupSeconds is how long, in seconds, the same load runs before the
	// measured window. Default 0.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	WarmupSeconds int32 `json:"warmupSeconds"`

	// requestTimeoutSeconds is how long, in seconds, a request may take. After
	// that it has failed with code DeadlineExceeded. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	RequestTimeoutSeconds int32 `json:"requestTimeoutSeconds,omitempty"`

	// sessionTimeoutSeconds is the time-out, in seconds, that the session of each
	// connection asks a ZooKeeper for. The server may grant another one. Only for
	// ZooKeeper. Default 30.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	SessionTimeoutSeconds *int32 `json:"sessionTimeoutSeconds,omitempty"`

	// rate makes the load an open loop: requests start on a schedule, however slow
	// the target is. A request that waits for a free client counts the wait as
	// latency. Absent: closed loop, in which each client sends its next request
	// when the last one was answered.
	//
	// +optional
	Rate *Rate `json:"rate,omitempty"`

	// seed sets the pseudo-random choices. The same seed and spec give the same
	// set of operations for any number of pods. For workload.type Kubernetes the
	// set also depends on the number of pods. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Seed int64 `json:"seed"`
}

// For returns the load of a workload: a Fetch measures one process for each client, and Observe sends one request per second.
func (l Load) For(w Workload) Load {
	if w.Fetch != nil {
		l.Requests = new(int64(l.Clients))
	}
	if w.OnlyObserves() {
		l.Rate = &Rate{PerSecond: 1, Arrival: ArrivalConstant}
	}
	return l
}

// RequestBound is how many requests bound the measured window. It is 0 if a duration bounds it.
func (l Load) RequestBound() int64 {
	if l.Requests == nil {
		return 0
	}
	return *l.Requests
}

// Duration is the length of the measured window. It is 0 if requests bound it.
func (l Load) Duration() time.Duration {
	seconds := int64(0)
	if l.DurationSeconds != nil {
		seconds = int64(*l.DurationSeconds)
	}
	if l.Rate != nil {
		for _, s := range l.Rate.Stages {
			seconds += int64(s.Seconds)
		}
	}
	return time.Duration(seconds) * time.Second
}

// Warmup is the length of the warm-up.
func (l Load) Warmup() time.Duration { return time.Duration(l.WarmupSeconds) * time.Second }

// RequestTimeout is how long a request may take.
func (l Load) RequestTimeout() time.Duration {
	return time.Duration(l.RequestTimeoutSeconds) * time.Second
}

// The default and the limit of SessionTimeoutSeconds.
const (
	defaultSessionTimeout    = 30 * time.Second
	MaxSessionTimeoutSeconds = 300
)

// SessionTimeout is the time-out that each session of a store with sessions asks for.
func (l Load) SessionTimeout() time.Duration {
	if l.SessionTimeoutSeconds == nil {
		return defaultSessionTimeout
	}
	return time.Duration(*l.SessionTimeoutSeconds) * time.Second
}

// OpenLoop reports whether requests start on a schedule.
func (l Load) OpenLoop() bool { return l.Rate != nil }
