package spec

// Election campaigns, leads for a while and resigns with each request, by the
// election of etcd's client library. Each client has a session, a lease that its
// candidacy is attached to, and stands in one election all the time.
type Election struct {
	// names is how many elections there are, at most load.clients. The clients are
	// dealt out to them evenly: load.clients divided by names stand in each.
	// Default 1.
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
