package spec

// Mixed reads or writes one key with each request. The keys are written before
// the run starts.
type Mixed struct {
	// readPercent is how many of a hundred requests are reads.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ReadPercent int32 `json:"readPercent"`

	// inTransaction sends each read, and each write, as the one operation of a
	// transaction without comparisons, as txn-mixed of etcd's benchmark tool does.
	// It needs load.transport Client. Default false.
	//
	// +optional
	InTransaction bool `json:"inTransaction,omitempty"`

	// consistency of the reads: Linearizable or Serializable. Default
	// Linearizable.
	//
	// +optional
	// +kubebuilder:default=Linearizable
	Consistency Consistency `json:"consistency,omitempty"`

	// keys are the keys that are read and written. Default 10,000 keys, each with
	// the same probability.
	//
	// +optional
	// +kubebuilder:default={count:10000,sizeBytes:8,distribution:Uniform}
	Keys Keys `json:"keys,omitzero"`

	// values are what is written.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}
