package spec

// Lock acquires a lock, holds it for a while and releases it with each request,
// by the mutex of etcd's client library. Each client has a session, a lease that
// its locks are attached to, and contends for one name all the time.
type Lock struct {
	// names is how many locks there are, at most load.clients. The clients are
	// dealt out to them evenly: load.clients divided by names contend for each.
	// Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Names int32 `json:"names,omitempty"`

	// holdMilliseconds is how long a client keeps a lock before it releases it, in
	// milliseconds. Default 0.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=60000
	HoldMilliseconds int32 `json:"holdMilliseconds"`
}
