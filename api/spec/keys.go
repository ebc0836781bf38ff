package spec

// Distribution is how requests choose keys.
//
// +kubebuilder:validation:Enum=Sequential;Uniform;Zipf;HotSpot
type Distribution string

// The distributions of requests over keys.
const (
	// Sequential takes key n mod count for request n.
	Sequential Distribution = "Sequential"
	// Uniform takes any key with the same probability.
	Uniform Distribution = "Uniform"
	// ZipfLaw takes the key of rank r with a probability proportional to 1 /
	// r^exponent.
	ZipfLaw Distribution = "Zipf"
	// HotSpots sends one share of the requests to one share of the keys.
	HotSpots Distribution = "HotSpot"
)

// MaxKeys is the most keys of a run.
const MaxKeys = 1_000_000_000

// Keys are the keys that a run uses, and how its requests choose among them. A
// key is the run's prefix and a decimal number with leading zeros.
//
// +kubebuilder:validation:XValidation:rule="string(self.count - 1).size() <= self.sizeBytes",messageExpression="'must be long enough for the decimal number count - 1 (%d), found %d (default 8): raise sizeBytes or lower count'.format([self.count - 1, self.sizeBytes])",fieldPath=".sizeBytes"
// +kubebuilder:validation:XValidation:rule="has(self.zipf) == (self.distribution == 'Zipf')",messageExpression="self.distribution == 'Zipf' ? 'must be set for distribution Zipf, for example {exponent: \"0.99\"}' : 'is only for distribution Zipf: remove it'",fieldPath=".zipf"
// +kubebuilder:validation:XValidation:rule="has(self.hotSpot) == (self.distribution == 'HotSpot')",messageExpression="self.distribution == 'HotSpot' ? 'must be set for distribution HotSpot, for example {keysPerMillion: 200000, requestsPerMillion: 800000}' : 'is only for distribution HotSpot: remove it'",fieldPath=".hotSpot"
// +kubebuilder:validation:XValidation:rule="self.distribution != 'HotSpot' || self.count >= 2",message="must be at least 2 for distribution HotSpot: one hot key and one cold key",fieldPath=".count"
type Keys struct {
	// count is the number of different keys.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Count int64 `json:"count"`

	// sizeBytes is the length of a key without the run's prefix. Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	SizeBytes int32 `json:"sizeBytes,omitempty"`

	// distribution is how requests choose keys:
	// - Sequential: request n takes key n mod count.
	// - Uniform: each key has the same probability.
	// - Zipf: a few keys get most requests.
	// - HotSpot: a share of the keys gets a share of the requests.
	//
	// Default Sequential.
	//
	// +optional
	// +kubebuilder:default=Sequential
	Distribution Distribution `json:"distribution,omitempty"`

	// zipf is required by distribution Zipf.
	//
	// +optional
	Zipf *Zipf `json:"zipf,omitempty"`

	// hotSpot is required by distribution HotSpot.
	//
	// +optional
	HotSpot *HotSpot `json:"hotSpot,omitempty"`
}

// Zipf is Zipf's law: the key of rank r is taken with a probability
// proportional to 1 / r^exponent. The seed decides which key has which rank.
// Ranks are scattered over the keys.
type Zipf struct {
	// exponent is a decimal from 0.001 (nearly even) to 10. Default "0.99".
	//
	// +optional
	// +kubebuilder:default="0.99"
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0|[1-9]|10)([.][0-9]{1,3})?$') && double(self) >= 0.001 && double(self) <= 10.0",message="must be a decimal from 0.001 to 10 with at most three digits after the point, in quotes, for example \"0.99\""
	Exponent Decimal `json:"exponent,omitempty"`
}

// HotSpot sends one share of the requests to one share of the keys. Within
// each share all keys are equally likely. The seed decides which keys are hot;
// they are scattered over the keys.
type HotSpot struct {
	// keysPerMillion is the share of keys that are hot; at least one is.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=999999
	KeysPerMillion int32 `json:"keysPerMillion"`

	// requestsPerMillion is the mean share of requests that take a hot key.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerMillion int32 `json:"requestsPerMillion"`
}
