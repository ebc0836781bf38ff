package spec

// Delivery is how the keys of a read arrive.
//
// +kubebuilder:validation:Enum=Whole;Pages;Stream
type Delivery string

// The deliveries of reads.
const (
	// DeliveryWhole returns all keys in one response.
	DeliveryWhole Delivery = "Whole"
	// DeliveryPages requests page after page, all at the revision of the first.
	DeliveryPages Delivery = "Pages"
	// DeliveryStream sends one request (RangeStream) that is answered by a stream
	// of responses.
	DeliveryStream Delivery = "Stream"
)

// Consistency of reads, in etcd's terms where it has one.
//
// +kubebuilder:validation:Enum=Linearizable;Serializable;SyncRead;Leader
type Consistency string

// The consistencies of reads.
const (
	// Linearizable reads what a quorum has agreed on.
	Linearizable Consistency = "Linearizable"
	// Serializable reads what the contacted member has. It may be stale.
	Serializable Consistency = "Serializable"
	// SyncRead lets the contacted ZooKeeper server catch up with its leader before
	// it reads. That is not linearizable.
	SyncRead Consistency = "SyncRead"
	// Leader reads what Consul's leader has. It may be stale while leaders change.
	Leader Consistency = "Leader"
)

// Range reads one key, or several consecutive keys, with each request. The
// keys are written before the run starts.
//
// +kubebuilder:validation:XValidation:rule="self.keysPerRequest <= self.keys.count",messageExpression="'must be at most range.keys.count (%d, default 1), found %d: a request cannot read more keys; lower it or raise keys.count'.format([self.keys.count, self.keysPerRequest])",fieldPath=".keysPerRequest"
// +kubebuilder:validation:XValidation:rule="self.keys.distribution != 'HotSpot' || self.keysPerRequest < self.keys.count",messageExpression="'must be less than range.keys.count (%d) with keys.distribution HotSpot, found %d: requests that read all keys cannot choose among them'.format([self.keys.count, self.keysPerRequest])",fieldPath=".keysPerRequest"
// +kubebuilder:validation:XValidation:rule="!has(self.limit) || self.limit < self.keysPerRequest",messageExpression="'must be less than keysPerRequest (%d, default 1), found %d, which limits nothing: lower or remove it'.format([self.keysPerRequest, self.limit])",fieldPath=".limit"
// +kubebuilder:validation:XValidation:rule="!self.countOnly || !self.keysOnly && !has(self.limit)",message="cannot be combined with keysOnly or limit: a count comes without keys; remove one of them",fieldPath=".countOnly"
// +kubebuilder:validation:XValidation:rule="self.countOnly || self.delivery == 'Stream' || (has(self.keysPerPage) ? self.keysPerPage : has(self.limit) ? self.limit : self.keysPerRequest) * ((self.keysOnly ? 0 : self.values.sizeBytes) + self.keys.sizeBytes + 320) <= 50331648",message="one response would have more than 48 MiB: lower keysPerRequest, keysPerPage or values.sizeBytes; or set limit, keysOnly, countOnly, or delivery Pages or Stream"
// +kubebuilder:validation:XValidation:rule="has(self.keysPerPage) == (self.delivery == 'Pages')",messageExpression="self.delivery == 'Pages' ? 'must be set for delivery Pages, for example 500' : 'is only for delivery Pages: remove it'",fieldPath=".keysPerPage"
// +kubebuilder:validation:XValidation:rule="!has(self.keysPerPage) || self.keysPerPage < self.keysPerRequest",messageExpression="'must be less than keysPerRequest (%d, default 1), found %d, which makes only one page: lower it or raise keysPerRequest'.format([self.keysPerRequest, self.keysPerPage])",fieldPath=".keysPerPage"
// +kubebuilder:validation:XValidation:rule="self.delivery == 'Whole' || !self.countOnly && !has(self.limit)",message="must be Whole with countOnly or limit: Pages and Stream read all keys that a request covers; remove countOnly and limit, or set delivery Whole",fieldPath=".delivery"
type Range struct {
	// consistency of a read:
	// - Linearizable: a quorum is asked. Not on ZooKeeper.
	// - Serializable: the contacted member answers alone, perhaps with an old
	//   value.
	// - SyncRead: only on ZooKeeper. A sync and the read, one right after the
	//   other. The latency is that of both.
	// - Leader: only on Consul. The leader answers alone.
	//
	// Default Linearizable.
	//
	// +optional
	// +kubebuilder:default=Linearizable
	Consistency Consistency `json:"consistency,omitempty"`

	// keysPerRequest is how many consecutive keys one request covers. 1 reads one
	// key. A greater number reads a range, and keys.count reads all keys, as with
	// a prefix. keys.distribution chooses the first key so that the range never
	// runs past the last one. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	KeysPerRequest int64 `json:"keysPerRequest,omitempty"`

	// limit is how many of the covered keys are returned at most. etcd only counts
	// the others. Absent: all covered keys are returned.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Limit *int64 `json:"limit,omitempty"`

	// delivery is how the keys of one request arrive:
	// - Whole: one response has all keys.
	// - Pages: one request is a listing of several pages of keysPerPage keys.
	//   Each page starts where the one before ended, at the revision of the
	//   first.
	// - Stream: one RangeStream, which needs etcd 3.7 or newer. etcd splits the
	//   keys into a stream of responses, all at one revision.
	//
	// The latency is that of all pages or responses together. Default Whole.
	//
	// +optional
	// +kubebuilder:default=Whole
	Delivery Delivery `json:"delivery,omitempty"`

	// keysPerPage is how many keys a page has at most. Delivery Pages requires it;
	// other deliveries exclude it.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	KeysPerPage *int64 `json:"keysPerPage,omitempty"`

	// keysOnly returns keys without their values. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	KeysOnly bool `json:"keysOnly"`

	// countOnly returns only the number of keys. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	CountOnly bool `json:"countOnly"`

	// keys are the keys to read. Default: one key.
	//
	// +optional
	// +kubebuilder:default={count:1,sizeBytes:8,distribution:Sequential}
	Keys Keys `json:"keys,omitzero"`

	// values are what the keys hold. Default: 256 random bytes each.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}
