package spec

import "time"

// Load says how many requests are sent, by how many clients, how fast. All
// numbers are totals over all pods.
//
// +kubebuilder:validation:XValidation:rule="self.connections < 1 || self.pods <= self.connections",message="load.pods must not be greater than load.connections: each pod needs a connection"
// +kubebuilder:validation:XValidation:rule="self.clients < 1 || self.connections <= self.clients",message="load.connections must not be greater than load.clients: a connection without a client would send nothing"
// +kubebuilder:validation:XValidation:rule="has(self.requests) != has(self.durationSeconds) || has(self.rate) && has(self.rate.stages)",message="exactly one of load.requests and load.durationSeconds must be set, or neither with load.rate.stages"
// +kubebuilder:validation:XValidation:rule="!has(self.rate) || !has(self.rate.stages) || !has(self.requests) && !has(self.durationSeconds)",message="load.requests and load.durationSeconds must be absent with load.rate.stages: the seconds of the stages add up to the duration"
// +kubebuilder:validation:XValidation:rule="!has(self.rate) || !has(self.rate.ramp) || has(self.durationSeconds)",message="load.rate.ramp needs load.durationSeconds, over which the rate changes, instead of load.requests"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || self.requests < 1 || self.requests >= self.pods",message="load.requests must not be smaller than load.pods: each pod needs a request"
type Load struct {
	// transport is Client (the store's usual Go library, as applications use it; for
	// etcd that is clientv3) or Fast (this project's own client, which spends a small
	// part of the processor time, so that a small client machine is not what is
	// measured). Fast carries workloads whose requests are each answered once; others
	// are refused. Every result names the transport. Default Client.
	//
	// +optional
	// +kubebuilder:default=Client
	Transport Transport `json:"transport,omitempty"`

	// pods is the number of client pods. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Pods int32 `json:"pods,omitempty"`

	// connections is the number of TCP connections that carry the load;
	// connection j goes to member j mod members. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Connections int32 `json:"connections,omitempty"`

	// clients is the number of clients, each with at most one request in
	// flight; client i uses connection i mod connections. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Clients int32 `json:"clients,omitempty"`

	// requests is how many requests are measured. Warm-up and preload are not
	// counted. Excludes durationSeconds, rate.ramp and rate.stages.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000000
	Requests *int64 `json:"requests,omitempty"`

	// durationSeconds is the length of the measured window in seconds.
	// Excludes requests and rate.stages.
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

	// requestTimeoutSeconds is how long, in seconds, a request may take
	// before it counts as failed with code DeadlineExceeded. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	RequestTimeoutSeconds int32 `json:"requestTimeoutSeconds,omitempty"`

	// rate makes the load open loop: requests start on a schedule, whatever
	// the target does, and a request that has to wait for a free client
	// counts that wait as latency. Absent: closed loop, each client sends its
	// next request when the last one was answered.
	//
	// +optional
	Rate *Rate `json:"rate,omitempty"`

	// seed of the pseudo-random choices. The same seed and spec give the same
	// set of operations, whatever the number of pods; of workload.type Kubernetes
	// the pods are a part of the set. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Seed int64 `json:"seed"`
}

// RequestBound is how many requests bound the measured window, 0 if its duration
// does.
func (l Load) RequestBound() int64 {
	if l.Requests == nil {
		return 0
	}
	return *l.Requests
}

// Duration is the length of the measured window, 0 if requests bound it.
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

// RequestTimeout is when a request counts as failed.
func (l Load) RequestTimeout() time.Duration {
	return time.Duration(l.RequestTimeoutSeconds) * time.Second
}

// OpenLoop says whether requests start on a schedule.
func (l Load) OpenLoop() bool { return l.Rate != nil }
