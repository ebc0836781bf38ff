package spec

// Delivery is how the keys of a read arrive.
//
// +kubebuilder:validation:Enum=Whole;Pages;Stream
type Delivery string

// The deliveries of reads.
const (
	// DeliveryWhole has all keys in one response.
	DeliveryWhole Delivery = "Whole"
	// DeliveryPages asks for page after page, all at the revision of the first.
	DeliveryPages Delivery = "Pages"
	// DeliveryStream has one request answered by a stream of responses
	// (RangeStream).
	DeliveryStream Delivery = "Stream"
)

// Consistency of reads, in etcd's terms.
//
// +kubebuilder:validation:Enum=Linearizable;Serializable
type Consistency string

// The consistencies of reads.
const (
	// Linearizable reads what a quorum has agreed on.
	Linearizable Consistency = "Linearizable"
	// Serializable reads what the contacted member has; it may be stale.
	Serializable Consistency = "Serializable"
)

// Range reads one key, or some that follow each other, with each request. The
// keys are written before the run starts.
//
// +kubebuilder:validation:XValidation:rule="self.keysPerRequest <= self.keys.count",message="range.keysPerRequest must not be greater than range.keys.count: there are no more keys to read; lower it or raise keys.count"
// +kubebuilder:validation:XValidation:rule="self.keys.distribution != 'HotSpot' || self.keysPerRequest < self.keys.count",message="range.keys.distribution HotSpot needs a range.keysPerRequest below range.keys.count: requests that read all keys leave nothing to choose"
// +kubebuilder:validation:XValidation:rule="!has(self.limit) || self.limit < self.keysPerRequest",message="range.limit must be smaller than range.keysPerRequest, or it limits nothing: lower it or remove it"
// +kubebuilder:validation:XValidation:rule="!self.countOnly || !self.keysOnly && !has(self.limit)",message="range.countOnly excludes range.keysOnly and range.limit: a count comes without keys; remove one of them"
// +kubebuilder:validation:XValidation:rule="self.countOnly || self.delivery == 'Stream' || (has(self.keysPerPage) ? self.keysPerPage : has(self.limit) ? self.limit : self.keysPerRequest) * ((self.keysOnly ? 0 : self.values.sizeBytes) + self.keys.sizeBytes + 320) <= 50331648",message="one response of range would have more than 48 MiB: lower keysPerRequest or values.sizeBytes, or set limit, keysOnly, countOnly, or a delivery of Pages or Stream"
// +kubebuilder:validation:XValidation:rule="has(self.keysPerPage) == (self.delivery == 'Pages')",message="range.keysPerPage must be set if, and only if, range.delivery is Pages"
// +kubebuilder:validation:XValidation:rule="!has(self.keysPerPage) || self.keysPerPage < self.keysPerRequest",message="range.keysPerPage must be smaller than range.keysPerRequest, or there is only one page: lower it or raise keysPerRequest"
// +kubebuilder:validation:XValidation:rule="self.delivery == 'Whole' || !self.countOnly && !has(self.limit)",message="range.countOnly and range.limit exclude a range.delivery of Pages or Stream, which reads all keys that a request covers: remove them or the delivery"
type Range struct {
	// consistency is Linearizable (a quorum is asked) or Serializable (the
	// contacted member answers alone, perhaps with an old value). Default
	// Linearizable.
	//
	// +optional
	// +kubebuilder:default=Linearizable
	Consistency Consistency `json:"consistency,omitempty"`

	// keysPerRequest is how many keys that follow each other one request covers:
	// 1 reads one key, more is a range from a key on, and keys.count reads all,
	// as with a prefix. keys.distribution chooses the first one, which is never so
	// near to the last key that there would be fewer. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	KeysPerRequest int64 `json:"keysPerRequest,omitempty"`

	// limit is how many of the keys that a request covers are returned, at most.
	// etcd counts the others. Default: all of them.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Limit *int64 `json:"limit,omitempty"`

	// delivery is Whole (one response has all keys), Pages (one request is a
	// whole listing: page after page of keysPerPage keys, each from where the one
	// before ended and at the revision of the first) or Stream (one RangeStream,
	// which etcd 3.7 and newer serve: etcd answers with a stream of responses of its
	// own choice, all at one revision). The latency is that of all pages or
	// responses together. Default Whole.
	//
	// +optional
	// +kubebuilder:default=Whole
	Delivery Delivery `json:"delivery,omitempty"`

	// keysPerPage is how many keys a page has, at most.
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

	// countOnly returns the number of keys, and neither keys nor values.
	// Default false.
	//
	// +optional
	// +kubebuilder:default=false
	CountOnly bool `json:"countOnly"`

	// keys are the keys that are read. Default one key.
	//
	// +optional
	// +kubebuilder:default={count:1,sizeBytes:8,distribution:Sequential}
	Keys Keys `json:"keys,omitzero"`

	// values are what the keys hold.
	//
	// +optional
	// +kubebuilder:default={sizeBytes:256,content:Random,sizeDistribution:Uniform}
	Values Values `json:"values,omitzero"`
}
