package spec

// TxnMode is what one transaction does.
//
// +kubebuilder:validation:Enum=Puts;CompareAndSwap
type TxnMode string

// The modes of transactions.
const (
	// TxnPuts writes several keys in one transaction.
	TxnPuts TxnMode = "Puts"
	// TxnCompareAndSwap reads one key and writes it in a transaction, if its
	// mod revision is still the one that was read.
	TxnCompareAndSwap TxnMode = "CompareAndSwap"
)

// MaxTxnOperations is etcd's default limit of the operations, and of the
// comparisons, in one transaction.
const MaxTxnOperations = 128

// Txn commits a transaction with each request.
//
// +kubebuilder:validation:XValidation:rule="has(self.putsPerTransaction) == (self.mode == 'Puts')",message="txn.putsPerTransaction must be set if, and only if, txn.mode is Puts"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction <= 128",message="txn.putsPerTransaction must be at most 128: etcd refuses transactions of more operations unless its --max-txn-ops is raised"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.putsPerTransaction <= self.keys.count",message="txn.putsPerTransaction must not be greater than txn.keys.count: a transaction can write a key only once"
// +kubebuilder:validation:XValidation:rule="!has(self.putsPerTransaction) || self.values.sizeBytes > 1568000 || self.putsPerTransaction * (self.keys.sizeBytes + self.values.sizeBytes + 128) <= 1568000",message="txn.putsPerTransaction keys and values of txn.keys.sizeBytes and txn.values.sizeBytes do not fit into one request: etcd refuses more than 1.5 MiB (1572864 bytes), of which each key's prefix and framing need some 128; lower one of them"
type Txn struct {
	// mode is Puts (each request writes putsPerTransaction different keys in one
	// transaction) or CompareAndSwap (each request reads one preloaded key, and
	// writes it in a transaction if its mod revision is still the one that was read;
	// if it is not, the request counts as lost, not as failed). Default Puts.
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

	// keys are the keys that are written. In sequential order, transaction n writes
	// the keys from n times putsPerTransaction on. Default 10,000 keys, each with
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

// Puts is how many different keys a transaction writes; 0 is a compare-and-swap.
func (t *Txn) Puts() int {
	if t.PutsPerTransaction == nil {
		return 0
	}
	return int(*t.PutsPerTransaction)
}
