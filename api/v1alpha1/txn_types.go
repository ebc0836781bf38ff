package v1alpha1

// TxnMode is what one transaction does.
//
// +kubebuilder:validation:Enum=Puts;CompareAndSwap
type TxnMode string

const (
	// TxnPuts writes several keys in one transaction.
	TxnPuts TxnMode = "Puts"
	// TxnCompareAndSwap reads one key and writes it in a transaction, if its
	// mod revision is still the one that was read.
	TxnCompareAndSwap TxnMode = "CompareAndSwap"
)

// TxnWorkload commits a transaction with each request.
//
// +kubebuilder:validation:XValidation:rule="has(self.putsPerTransaction) == (self.mode == 'Puts')",message="txn.putsPerTransaction must be set if, and only if, txn.mode is Puts"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction <= 128",message="txn.putsPerTransaction must be at most 128: etcd refuses transactions of more operations unless its --max-txn-ops is raised"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction <= self.keys.count",message="txn.putsPerTransaction must not be greater than txn.keys.count: a transaction can write a key only once"
// +kubebuilder:validation:XValidation:rule="has(self.putsPerTransaction) || self.valueSize <= 1568000",message="txn.valueSize must be at most 1568000: etcd refuses requests of more than 1.5 MiB (1572864 bytes), of which the key and framing need a part"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction * (self.keySize + self.valueSize + 128) <= 1568000",message="txn.putsPerTransaction keys and values of txn.keySize and txn.valueSize do not fit into one request: etcd refuses more than 1.5 MiB (1572864 bytes), of which each key's prefix and framing need some 128; lower one of them"
// +kubebuilder:validation:XValidation:rule="string(self.keys.count - 1).size() <= self.keySize",message="txn.keySize is too small to write txn.keys.count different keys as decimal numbers: raise keySize or lower keys.count"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize <= self.valueSize",message="txn.values.minSize must not be greater than txn.valueSize, the length of the longest value: lower it or raise valueSize"
type TxnWorkload struct {
	// mode is Puts (each request writes putsPerTransaction different keys in one
	// transaction) or CompareAndSwap (each request reads one key of a preloaded
	// key space, and writes it in a transaction if its mod revision is still the
	// one that was read; if it is not, the request counts as lost, not as
	// failed). Default Puts.
	//
	// +optional
	// +kubebuilder:default=Puts
	Mode TxnMode `json:"mode,omitempty"`

	// putsPerTransaction is the number of different keys that a transaction of
	// mode Puts writes, at most 128, which is etcd's default limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	PutsPerTransaction *int32 `json:"putsPerTransaction,omitempty"`

	// keySize is the length of a key in bytes, not counting the run's prefix.
	// Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	KeySize int32 `json:"keySize,omitempty"`

	// valueSize is the length of each value in bytes. Default 256.
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

	// keys is the key space. In sequential order, transaction n writes the keys
	// from n times putsPerTransaction on. Default 10,000 keys, each with the
	// same probability.
	//
	// +optional
	// +kubebuilder:default={count:10000,order:Uniform}
	Keys KeySpace `json:"keys,omitzero"`
}
