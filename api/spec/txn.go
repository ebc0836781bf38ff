package spec

// TxnMode is what one transaction does.
//
// +kubebuilder:validation:Enum=Puts;CompareAndSwap
type TxnMode string

// The modes of transactions.
const (
	// TxnPuts writes several keys in one transaction.
	TxnPuts TxnMode = "Puts"
	// TxnCompareAndSwap reads one key, and writes it in a transaction if its mod
	// revision is still the one that was read.
	TxnCompareAndSwap TxnMode = "CompareAndSwap"
)

// MaxTxnOperations is etcd's default limit of the operations, and of the
// comparisons, in one transaction.
const MaxTxnOperations = 128

// Txn commits a transaction with each request.
//
// +kubebuilder:validation:XValidation:rule="has(self.putsPerTransaction) == (self.mode == 'Puts')",messageExpression="self.mode == 'Puts' ? 'must be set for mode Puts (the default), for example 10' : 'is only for mode Puts: remove it'",fieldPath=".putsPerTransaction"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction <= 128",message="must be at most 128: etcd refuses transactions with more operations unless its --max-txn-ops is raised",fieldPath=".putsPerTransaction"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction <= self.keys.count",messageExpression="'must be at most txn.keys.count (%d), found %d: a transaction can write a key only once'.format([self.keys.count, self.putsPerTransaction])",fieldPath=".putsPerTransaction"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.values.sizeBytes > 1568000 || self.putsPerTransaction * (self.keys.sizeBytes + self.values.sizeBytes + 128) <= 1568000",message="the keys and values do not fit into one request of 1.5 MiB: each key needs keys.sizeBytes (default 8) + values.sizeBytes (default 256) + 128 bytes; lower one of these numbers",fieldPath=".putsPerTransaction"
type Txn struct {
	// mode is what each request does:
	// - Puts: writes putsPerTransaction different keys in one transaction.
	// - CompareAndSwap: reads one key, and writes it in a transaction if its mod
	//   revision is still the one that was read. If it is not, the request
	//   counts as lost, not as failed. The keys are written before the run
	//   starts.
	//
	// Default Puts.
	//
	// +optional
	// +kubebuilder:default=Puts
	Mode TxnMode `json:"mode,omitempty"`

	// putsPerTransaction is the number of different keys that a transaction of
	// mode Puts writes. At most 128, which is etcd's default limit. Mode Puts
	// requires it.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	PutsPerTransaction *int32 `json:"putsPerTransaction,omitempty"`

	// keys are the keys to write. With distribution Sequential, transaction n
	// writes the keys from n times putsPerTransaction on. Default: 10,000 keys,
	// Uniform.
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

// Puts is how many different keys a transaction writes. It is 0 for a compare-and-swap.
func (t *Txn) Puts() int {
	if t.PutsPerTransaction == nil {
		return 0
	}
	return int(*t.PutsPerTransaction)
}
