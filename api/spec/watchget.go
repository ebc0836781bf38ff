package spec

// WatchGet reads one key with each request, as the contacted member has it
// (serializable), while watchers read the past. Each watcher begins at the
// first event of a history that was written before the load, reads it to its
// end, and begins again. The keys are also written before the run starts.
//
// +kubebuilder:validation:XValidation:rule="self.streams * self.watchersPerStream <= 100000",messageExpression="'streams (%d, default 10) times watchersPerStream (%d, default 100) must be at most 100000: each watcher takes two goroutines and about 10 KiB of a client pod; lower one of them'.format([self.streams, self.watchersPerStream])"
// +kubebuilder:validation:XValidation:rule="!has(self.connections) || self.connections <= self.streams",messageExpression="'must be at most watchGet.streams (%d, default 10), found %d: a connection without a stream would carry nothing; lower it or raise streams'.format([self.streams, self.connections])",fieldPath=".connections"
type WatchGet struct {
	// streams is the number of gRPC streams that carry watchers, over all pods. At
	// least one per pod is needed. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Streams int32 `json:"streams,omitempty"`

	// watchersPerStream is the number of watchers on each stream. Default 100.
	//
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	WatchersPerStream int32 `json:"watchersPerStream,omitempty"`

	// connections is the number of connections that carry only the streams, over
	// all pods and in addition to load.connections. At least one per pod is
	// needed, at most one per stream. Connection j goes to member j mod members. 0
	// lets the streams share the connections of the load. Default 0.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	Connections int32 `json:"connections"`

	// events is how many events a watcher reads before it begins again. Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Events int32 `json:"events,omitempty"`

	// keys are the keys to read. The first ones, one per pod, have the histories.
	// Default: 1,000 keys, Uniform.
	//
	// +optional
	// +kubebuilder:default={count:1000,sizeBytes:8,distribution:Uniform}
	Keys Keys `json:"keys,omitzero"`

	// values are what the keys and the events of the history hold. Default: 256
	// random bytes each.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}
