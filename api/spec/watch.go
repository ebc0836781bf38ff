package spec

// WatchScope is what one watcher watches.
//
// +kubebuilder:validation:Enum=Key;AllKeys
type WatchScope string

// The scopes of watchers.
const (
	// WatchScopeKey gives each watcher one key.
	WatchScopeKey WatchScope = "Key"
	// WatchScopeAllKeys gives each watcher all keys.
	WatchScopeAllKeys WatchScope = "AllKeys"
)

// MaxWatchers bounds the watchers of a run, over all pods.
const MaxWatchers = 100_000

// MinMarkedValue is the shortest value of a watched key, in bytes. The first
// bytes identify the pod and the request that put it.
const MinMarkedValue = 16

// Watch writes one key with each request while watchers watch. The keys are
// written before the run starts, and the watchers are opened before the load.
//
// +kubebuilder:validation:XValidation:rule="self.streams * self.watchersPerStream <= 100000",messageExpression="'streams (%d, default 10) times watchersPerStream (%d, default 10) must be at most 100000: each watcher takes two goroutines and about 10 KiB of a client pod; lower one of them'.format([self.streams, self.watchersPerStream])"
// +kubebuilder:validation:XValidation:rule="!has(self.connections) || self.connections <= self.streams",messageExpression="'must be at most watch.streams (%d, default 10), found %d: a connection without a stream would carry nothing; lower it or raise streams'.format([self.streams, self.connections])",fieldPath=".connections"
// +kubebuilder:validation:XValidation:rule="self.values.sizeBytes >= 16 && (!has(self.values.minSizeBytes) || self.values.minSizeBytes >= 16)",message="sizeBytes and minSizeBytes must be at least 16: the first 16 bytes of a value identify the pod and the request that put it",fieldPath=".values"
type Watch struct {
	// streams is the number of gRPC streams that carry watchers, over all pods. At
	// least one per pod is needed. Default 10.
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

	// scope is what each watcher watches: Key (watcher w watches key w mod
	// keys.count) or AllKeys (each watches all keys, as with a prefix). Default
	// Key.
	//
	// +optional
	// +kubebuilder:default=Key
	Scope WatchScope `json:"scope,omitempty"`

	// prevKV requests the previous value of the key with each event. Default
	// false.
	//
	// +optional
	// +kubebuilder:default=false
	PrevKV bool `json:"prevKV"`

	// keys are the keys to write. Default: one key.
	//
	// +optional
	// +kubebuilder:default={count:1,sizeBytes:8,distribution:Sequential}
	Keys Keys `json:"keys,omitzero"`

	// values are what is written, at least 16 bytes each. The first 16 bytes
	// identify the pod and the request that put the value. Default: 256 random
	// bytes each.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}
