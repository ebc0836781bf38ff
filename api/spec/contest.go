package spec

// Lock acquires a lock, holds it for a while and releases it with each
// request: by the mutex of etcd's client library, by the recipe of ZooKeeper's
// documentation, or by a key that a session of Consul acquires. Each client
// always uses the same lock.
type Lock struct {
	// names is the number of locks, at most load.clients. The clients are spread
	// evenly: load.clients divided by names contend for each lock. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Names int32 `json:"names,omitempty"`

	// holdMilliseconds is how long a client holds a lock before it releases it, in
	// milliseconds. Default 0.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=60000
	HoldMilliseconds int32 `json:"holdMilliseconds"`
}

// Election campaigns, leads for a while and resigns with each request: by the
// election of etcd's client library; on ZooKeeper and Consul, as Lock. Each
// client always takes part in the same election.
type Election struct {
	// names is the number of elections, at most load.clients. The clients are
	// spread evenly: load.clients divided by names take part in each. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Names int32 `json:"names,omitempty"`

	// leadMilliseconds is how long a client leads before it resigns, in
	// milliseconds. Default 0.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=60000
	LeadMilliseconds int32 `json:"leadMilliseconds"`
}
