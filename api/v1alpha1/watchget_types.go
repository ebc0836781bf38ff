package v1alpha1

// WatchGetWorkload reads one key with each request, as the contacted member has
// it (serializable), while watchers read the past: each begins at the first event
// of a history that was written before the load, reads it to its end, and begins
// anew. The key space is written before the run starts, too.
//
// +kubebuilder:validation:XValidation:rule="self.streams * self.watchersPerStream <= 100000",message="watchGet.streams times watchGet.watchersPerStream must be at most 100000: each watcher takes two goroutines and some 10 KiB of a client pod; lower one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.connections) || self.connections <= self.streams",message="watchGet.connections must not be greater than watchGet.streams, for what carries no stream is of no use: lower it or raise streams",fieldPath=".connections"
// +kubebuilder:validation:XValidation:rule="self.valueSize <= 1568000",message="watchGet.valueSize must be at most 1568000: etcd refuses requests of more than 1.5 MiB (1572864 bytes), of which the key and framing need a part"
// +kubebuilder:validation:XValidation:rule="string(self.keys.count - 1).size() <= self.keySize",message="watchGet.keySize is too small to write watchGet.keys.count different keys as decimal numbers: raise keySize or lower keys.count"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize <= self.valueSize",message="watchGet.values.minSize must not be greater than watchGet.valueSize, the length of the longest value: lower it or raise valueSize"
type WatchGetWorkload struct {
	// streams is the number of gRPC streams that carry watchers, a total over all
	// pods, at least one for each. Default 10.
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

	// connections is the number of connections that carry the streams and nothing
	// else, a total over all pods beside load.connections: at least one for each
	// pod, at most one for each stream. Like those, connection j goes to member j
	// mod members. 0 lets the streams share the connections of the load. Default 0.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	Connections int32 `json:"connections"`

	// events is how many events a watcher reads before it begins anew. Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Events int32 `json:"events,omitempty"`

	// keySize is the length of a key in bytes, not counting the run's prefix.
	// Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	KeySize int32 `json:"keySize,omitempty"`

	// valueSize is the length of a value in bytes, of the keys that are read and
	// of the history. Default 256.
	//
	// +optional
	// +kubebuilder:default=256
	// +kubebuilder:validation:Minimum=0
	ValueSize int32 `json:"valueSize"`

	// values is what values are made of, and whether their lengths differ.
	// Default: random bytes, all of one length.
	//
	// +optional
	Values *Values `json:"values,omitempty"`

	// keys is the key space. Its first keys, one for each pod, have the
	// histories. Default 1,000 keys, each with the same probability.
	//
	// +optional
	// +kubebuilder:default={count:1000,order:Uniform}
	Keys KeySpace `json:"keys,omitzero"`
}
