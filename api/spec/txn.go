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

// MaxTxnOperations is the most operations, and comparisons, in one transaction
// of a load. etcd's default limit is 128. etcd carries out a transaction as a
// whole, and other requests wait meanwhile.
const MaxTxnOperations = 10_000

// Txn commits a transaction with each request.
//
// +kubebuilder:validation:XValidation:rule="has(self.putsPerTransaction) == (self.mode == 'Puts')",messageExpression="self.mode == 'Puts' ? 'must be set for mode Puts (the default), for example 10' : 'is only for mode Puts: remove it'",fieldPath=".putsPerTransaction"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction <= 10000",message="must be at most 10000: a longer transaction keeps all other requests waiting",fieldPath=".putsPerTransaction"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction <= self.keys.count",messageExpression="'must be at most txn.keys.count (%d), found %d: a transaction can write a key only once'.format([self.keys.count, self.putsPerTransaction])",fieldPath=".putsPerTransaction"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.values.sizeBytes > 10480000 || self.putsPerTransaction * (self.keys.sizeBytes + self.values.sizeBytes + 128) <= 10480000",message="the keys and values do not fit into one request of 10 MiB, the most that etcd recommends: each key needs keys.sizeBytes (default 8) + values.sizeBytes (default 256) + 128 bytes; lower one of these numbers",fieldPath=".putsPerTransaction"
// +kubebuilder:validation:XValidation:rule="!has(self.overwrite) || !self.overwrite || self.mode == 'Puts'",message="is only for mode Puts: remove it, because the keys of CompareAndSwap are always written before",fieldPath=".overwrite"
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
	// mode Puts writes. At most 10,000. Above 128, etcd's --max-txn-ops must be
	// raised. Mode Puts requires it.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	PutsPerTransaction *int32 `json:"putsPerTransaction,omitempty"`

	// overwrite writes all keys before the run starts, as for Put. Only for mode
	// Puts. Default false.
	//
	// +optional
	Overwrite bool `json:"overwrite,omitempty"`

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
