package spec

// Put writes one key with each request.
type Put struct {
	// overwrite writes all keys before the run starts, so that each request
	// overwrites a key. On ZooKeeper a request is then a setData, and otherwise a
	// create of a key that must be new. Default false.
	//
	// +optional
	Overwrite bool `json:"overwrite,omitempty"`

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

// Delete deletes one key with each request. The keys are written before the
// run starts. Each key is deleted once, because deleting an absent key is
// another operation. So load.requests must be set, to at most keys.count, and
// load.warmupSeconds must be 0.
//
// +kubebuilder:validation:XValidation:rule="self.keys.distribution in ['Sequential', 'Uniform']",message="must be Sequential or Uniform for workload.type Delete: each key can be deleted only once",fieldPath=".keys.distribution"
type Delete struct {
	// keys are the keys to delete. Their distribution is Sequential (request n
	// deletes key n) or Uniform (keys are deleted in random order, each once).
	// Default: 100,000 keys, Sequential.
	//
	// +optional
	// +kubebuilder:default={count:100000,sizeBytes:8,distribution:Sequential}
	Keys Keys `json:"keys,omitzero"`

	// values are what the keys hold before they are deleted. Default: 256 random
	// bytes each.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}
