package v1alpha1

// WatchScope is what one watcher watches.
//
// +kubebuilder:validation:Enum=Key;AllKeys
type WatchScope string

const (
	// WatchScopeKey gives each watcher one key.
	WatchScopeKey WatchScope = "Key"
	// WatchScopeAllKeys gives each watcher the whole key space.
	WatchScopeAllKeys WatchScope = "AllKeys"
)

// WatchWorkload writes one key with each request, while watchers watch. The key
// space is written before the run starts, and the watchers are there before the
// load.
//
// +kubebuilder:validation:XValidation:rule="self.streams * self.watchersPerStream <= 100000",message="watch.streams times watch.watchersPerStream must be at most 100000: each watcher takes two goroutines and some 10 KiB of a client pod; lower one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.connections) || self.connections <= self.streams",message="watch.connections must not be greater than watch.streams, for what carries no stream is of no use: lower it or raise streams",fieldPath=".connections"
// +kubebuilder:validation:XValidation:rule="self.valueSize <= 1568000",message="watch.valueSize must be at most 1568000: etcd refuses requests of more than 1.5 MiB (1572864 bytes), of which the key and framing need a part"
// +kubebuilder:validation:XValidation:rule="string(self.keys.count - 1).size() <= self.keySize",message="watch.keySize is too small to write watch.keys.count different keys as decimal numbers: raise keySize or lower keys.count"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize <= self.valueSize",message="watch.values.minSize must not be greater than watch.valueSize, the length of the longest value: lower it or raise valueSize"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize >= 16",message="watch.values.minSize must be at least 16: a value begins with 16 bytes that say which pod has put it, by which request"
type WatchWorkload struct {
	// streams is the number of gRPC streams that carry watchers, a total over all
	// pods, at least one for each. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Streams int32 `json:"streams,omitempty"`

	// watchersPerStream is the number of watchers on each stream. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
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

	// scope is what each watcher watches: Key (watcher w watches key w mod
	// keys.count) or AllKeys (each watches the whole key space, as with a
	// prefix). Default Key.
	//
	// +optional
	// +kubebuilder:default=Key
	Scope WatchScope `json:"scope,omitempty"`

	// prevKV asks for the previous value of the key with each event. Default
	// false.
	//
	// +optional
	// +kubebuilder:default=false
	PrevKV bool `json:"prevKV"`

	// keySize is the length of a key in bytes, not counting the run's prefix.
	// Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	KeySize int32 `json:"keySize,omitempty"`

	// valueSize is the length of a value in bytes, 16 to 1,568,000. Its first 16
	// bytes say which pod has put it, by which request. Default 256.
	//
	// +optional
	// +kubebuilder:default=256
	// +kubebuilder:validation:Minimum=16
	ValueSize int32 `json:"valueSize,omitempty"`

	// values is what values are made of, and whether their lengths differ.
	// Default: random bytes, all of one length.
	//
	// +optional
	Values *Values `json:"values,omitempty"`

	// keys is the key space. Default one key.
	//
	// +optional
	// +kubebuilder:default={count:1,order:Sequential}
	Keys KeySpace `json:"keys,omitzero"`
}

// WatchSummary is what became of the watchers, and of the events that they were
// to see.
type WatchSummary struct {
	// watchers that were opened before the load.
	//
	// +optional
	Watchers int64 `json:"watchers"`

	// expectedEvents is how many events the acknowledged puts of the measured
	// window owe the watchers of their own pods; of WatchGet, how many events the
	// replays have.
	//
	// +optional
	ExpectedEvents int64 `json:"expectedEvents"`

	// missedEvents are those of them that had not come when the time that a
	// request may take had passed after the last answer.
	//
	// +optional
	MissedEvents int64 `json:"missedEvents"`

	// duplicateEvents is how many events a watcher was given once more.
	//
	// +optional
	DuplicateEvents int64 `json:"duplicateEvents"`

	// cancelledWatchers is how often etcd ended a watcher, for example for want of
	// a leader. It goes on after its last event; only if what comes there had been
	// compacted, it misses what came until it was opened anew.
	//
	// +optional
	CancelledWatchers int64 `json:"cancelledWatchers"`

	// resumedWatchers is how often a watcher was opened anew, where it had been,
	// because its stream had broken.
	//
	// +optional
	ResumedWatchers int64 `json:"resumedWatchers"`

	// replays is how often, in the measured window, a watcher of WatchGet has read
	// its history to the end.
	//
	// +optional
	Replays int64 `json:"replays,omitempty"`
}
