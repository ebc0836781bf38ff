package v1alpha1

// DeleteWorkload deletes one key with each request. The key space is written
// before the run starts, and each of its keys is deleted once: to delete a key
// that is not there is another operation. So load.requests must be set, to at
// most keys.count, and load.warmupSeconds must be 0.
//
// +kubebuilder:validation:XValidation:rule="self.valueSize <= 1568000",message="delete.valueSize must be at most 1568000: etcd refuses requests of more than 1.5 MiB (1572864 bytes), of which the key and framing need a part"
// +kubebuilder:validation:XValidation:rule="string(self.keys.count - 1).size() <= self.keySize",message="delete.keySize is too small to write delete.keys.count different keys as decimal numbers: raise keySize or lower keys.count"
// +kubebuilder:validation:XValidation:rule="self.keys.order in ['Sequential', 'Uniform']",message="delete.keys.order must be Sequential or Uniform: each key can be deleted only once"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize <= self.valueSize",message="delete.values.minSize must not be greater than delete.valueSize, the length of the longest value: lower it or raise valueSize"
type DeleteWorkload struct {
	// keySize is the length of a key in bytes, not counting the run's prefix.
	// Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	KeySize int32 `json:"keySize,omitempty"`

	// valueSize is the length of a value in bytes, at most 1,568,000. Default 256.
	//
	// +optional
	// +kubebuilder:default=256
	// +kubebuilder:validation:Minimum=0
	ValueSize int32 `json:"valueSize"`

	// values is what values are made of, and whether their lengths differ.
	// Default: random bytes, all of one length.
	//
	// +optional
	Values *Values `json:"values,omitempty"`

	// keys is the key space. Its order is Sequential (request n deletes key n) or
	// Uniform (keys are deleted in random order, each once). Default 100,000 keys
	// in sequential order.
	//
	// +optional
	// +kubebuilder:default={count:100000,order:Sequential}
	Keys KeySpace `json:"keys,omitzero"`
}
