package spec

// Mixed reads or writes one key with each request. The keys are written before
// the run starts.
//
// +kubebuilder:validation:XValidation:rule="!has(self.readLimit) || has(self.inTransaction) && self.inTransaction",message="needs inTransaction: true",fieldPath=".readLimit"
// +kubebuilder:validation:XValidation:rule="!has(self.readLimit) || self.readLimit * (self.keys.sizeBytes + self.values.sizeBytes + 320) <= 50331648",message="would return more than 48 MiB: lower it or values.sizeBytes",fieldPath=".readLimit"
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

	// readLimit makes a read cover all keys. At most so many are returned, and etcd
	// counts the others. Absent: a read is of one key.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	ReadLimit *int64 `json:"readLimit,omitempty"`

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
