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
	// ZipfLaw takes the key of rank r with a probability proportional to r to the
	// power of minus an exponent.
	ZipfLaw Distribution = "Zipf"
	// HotSpots sends one share of the requests to one share of the keys.
	HotSpots Distribution = "HotSpot"
)

// Keys are the keys that a run touches, and how its requests choose among them.
// A key is the run's prefix and a decimal number with zeros before it.
//
// +kubebuilder:validation:XValidation:rule="string(self.count - 1).size() <= self.sizeBytes",message="keys.sizeBytes is too small to write keys.count different keys as decimal numbers: raise sizeBytes or lower count"
// +kubebuilder:validation:XValidation:rule="has(self.zipf) == (self.distribution == 'Zipf')",message="keys.zipf must be set if, and only if, keys.distribution is Zipf, for example {exponent: \"0.99\"}"
// +kubebuilder:validation:XValidation:rule="has(self.hotSpot) == (self.distribution == 'HotSpot')",message="keys.hotSpot must be set if, and only if, keys.distribution is HotSpot, for example {keysPerMillion: 200000, requestsPerMillion: 800000}"
// +kubebuilder:validation:XValidation:rule="self.distribution != 'HotSpot' || self.count >= 2",message="keys.distribution HotSpot needs a keys.count of at least 2, a hot key and a cold one: raise it, or set distribution Sequential for one key"
type Keys struct {
	// count is the number of different keys.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Count int64 `json:"count"`

	// sizeBytes is the length of a key in bytes, not counting the run's prefix.
	// Default 8.
	//
	// +optional
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	SizeBytes int32 `json:"sizeBytes,omitempty"`

	// distribution is Sequential (request n takes key n mod count), Uniform (any
	// key, with the same probability), Zipf (a few keys get most requests, as zipf
	// says) or HotSpot (a share of the requests goes to a share of the keys, as
	// hotSpot says). Default Sequential.
	//
	// +optional
	// +kubebuilder:default=Sequential
	Distribution Distribution `json:"distribution,omitempty"`

	// zipf is how uneven the distribution Zipf is.
	//
	// +optional
	Zipf *Zipf `json:"zipf,omitempty"`

	// hotSpot is how uneven the distribution HotSpot is.
	//
	// +optional
	HotSpot *HotSpot `json:"hotSpot,omitempty"`
}

// Zipf is Zipf's law: the key of rank r is taken with a probability proportional
// to r to the power of minus the exponent. The seed decides which key has which
// rank: ranks are scattered over the keys.
type Zipf struct {
	// exponent is a decimal, 0.001 to 10: near 0 all keys are alike, at 1 the
	// second key is taken half as often as the first. Default "0.99".
	//
	// +optional
	// +kubebuilder:default="0.99"
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0|[1-9]|10)([.][0-9]{1,3})?$') && double(self) >= 0.001 && double(self) <= 10.0",message="wanted a decimal from 0.001 to 10 with at most three digits after the point, in quotes, for example \"0.99\""
	Exponent Decimal `json:"exponent,omitempty"`
}

// HotSpot sends one share of the requests to one share of the keys, in each share
// with the same probability. The seed decides which keys are hot: they are
// scattered over the keys.
type HotSpot struct {
	// keysPerMillion is how many of a million keys are hot. At least one key is.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=999999
	KeysPerMillion int32 `json:"keysPerMillion"`

	// requestsPerMillion is how many of a million requests, on average, take a
	// hot key. The others take a cold one.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerMillion int32 `json:"requestsPerMillion"`
}
