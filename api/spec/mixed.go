package spec

// Mixed reads or writes one key with each request. The keys are written before
// the run starts.
type Mixed struct {
	// readPercent is the share of requests that are reads, in percent. The others
	// are writes.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ReadPercent int32 `json:"readPercent"`

	// inTransaction sends each read and each write as the only operation of a
	// transaction without comparisons, as txn-mixed of etcd's benchmark tool does.
	// It needs load.transport Client. Default false.
	//
	// +optional
	InTransaction bool `json:"inTransaction,omitempty"`

	// consistency of the reads, as for Range. Default Linearizable.
	//
	// +optional
	// +kubebuilder:default=Linearizable
	Consistency Consistency `json:"consistency,omitempty"`

	// keys are the keys to read and write. Default: 10,000 keys, Uniform.
	//
	// +optional
	// +kubebuilder:default={count:10000,sizeBytes:8,distribution:Uniform}
	Keys Keys `json:"keys,omitzero"`

	// values are what is written. Default: 256 random bytes each.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}
