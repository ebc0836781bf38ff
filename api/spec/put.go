package spec

// Put writes one key with each request.
type Put struct {
	// keys are the keys to write. Default: 100,000 keys, Sequential.
	//
	// +optional
	// +kubebuilder:default={count:100000,sizeBytes:8,distribution:Sequential}
	Keys Keys `json:"keys,omitzero"`

	// values are what is written. Default: 256 random bytes each.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}
