package v1alpha1

// RangeDelivery is how the keys of a read come.
//
// +kubebuilder:validation:Enum=Whole;Pages;Stream
type RangeDelivery string

const (
	// DeliveryWhole has all keys in one response.
	DeliveryWhole RangeDelivery = "Whole"
	// DeliveryPages asks for page after page, all at the revision of the first.
	DeliveryPages RangeDelivery = "Pages"
	// DeliveryStream has one request answered by a stream of responses
	// (RangeStream).
	DeliveryStream RangeDelivery = "Stream"
)

// RangeWorkload reads one key, or some that follow each other, with each
// request. The key space is written before the run starts.
//
// +kubebuilder:validation:XValidation:rule="self.valueSize <= 1568000",message="range.valueSize must be at most 1568000: etcd refuses requests of more than 1.5 MiB (1572864 bytes), of which the key and framing need a part"
// +kubebuilder:validation:XValidation:rule="string(self.keys.count - 1).size() <= self.keySize",message="range.keySize is too small to write range.keys.count different keys as decimal numbers: raise keySize or lower keys.count"
// +kubebuilder:validation:XValidation:rule="self.keysPerRequest <= self.keys.count",message="range.keysPerRequest must not be greater than range.keys.count: there are no more keys to read; lower it or raise keys.count"
// +kubebuilder:validation:XValidation:rule="self.keys.order != 'HotSpot' || self.keysPerRequest < self.keys.count",message="range.keys.order HotSpot needs a range.keysPerRequest below range.keys.count: requests that read all keys leave nothing to choose"
// +kubebuilder:validation:XValidation:rule="!has(self.limit) || self.limit < self.keysPerRequest",message="range.limit must be smaller than range.keysPerRequest, or it limits nothing: lower it or remove it"
// +kubebuilder:validation:XValidation:rule="!self.countOnly || !self.keysOnly && !has(self.limit)",message="range.countOnly excludes range.keysOnly and range.limit: a count comes without keys; remove one of them"
// +kubebuilder:validation:XValidation:rule="self.countOnly || self.delivery == 'Stream' || (has(self.pageSize) ? self.pageSize : has(self.limit) ? self.limit : self.keysPerRequest) * ((self.keysOnly ? 0 : self.valueSize) + self.keySize + 320) <= 50331648",message="one response of range would have more than 48 MiB: lower keysPerRequest or valueSize, or set limit, keysOnly, countOnly, or a delivery of Pages or Stream"
// +kubebuilder:validation:XValidation:rule="has(self.pageSize) == (self.delivery == 'Pages')",message="range.pageSize must be set if, and only if, range.delivery is Pages"
// +kubebuilder:validation:XValidation:rule="!has(self.pageSize) || self.pageSize < self.keysPerRequest",message="range.pageSize must be smaller than range.keysPerRequest, or there is only one page: lower it or raise keysPerRequest"
// +kubebuilder:validation:XValidation:rule="self.delivery == 'Whole' || !self.countOnly && !has(self.limit)",message="range.countOnly and range.limit exclude a range.delivery of Pages or Stream, which reads all keys that a request covers: remove them or the delivery"
// +kubebuilder:validation:XValidation:rule="!has(self.values) || !has(self.values.minSize) || self.values.minSize <= self.valueSize",message="range.values.minSize must not be greater than range.valueSize, the length of the longest value: lower it or raise valueSize"
type RangeWorkload struct {
	// consistency is Linearizable (a quorum is asked) or Serializable (the
	// contacted member answers alone, perhaps with an old value). Default
	// Linearizable.
	//
	// +optional
	// +kubebuilder:default=Linearizable
	Consistency Consistency `json:"consistency,omitempty"`

	// keysPerRequest is how many keys that follow each other one request covers:
	// 1 reads one key, more is a range from a key on, and keys.count reads all,
	// as with a prefix. keys.order chooses the first one, which is never so near
	// to the last key that there would be fewer. Default 1.
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
	// whole listing: a page of pageSize keys after the other, each from the key
	// on where the one before ended and at the revision of the first) or Stream
	// (one RangeStream, which etcd 3.7 and newer serve: etcd answers with a
	// stream of responses of its own choice, all at one revision). The latency is
	// that of all pages or responses together. Default Whole.
	//
	// +optional
	// +kubebuilder:default=Whole
	Delivery RangeDelivery `json:"delivery,omitempty"`

	// pageSize is how many keys a page has, at most.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	PageSize *int64 `json:"pageSize,omitempty"`

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

	// keys is the key space. Default one key.
	//
	// +optional
	// +kubebuilder:default={count:1,order:Sequential}
	Keys KeySpace `json:"keys,omitzero"`
}
