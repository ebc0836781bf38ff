package v1alpha1

// KeyOrder is how requests choose keys.
//
// +kubebuilder:validation:Enum=Sequential;Uniform;Zipf;HotSpot
type KeyOrder string

const (
	// KeyOrderSequential takes key n mod count for request n.
	KeyOrderSequential KeyOrder = "Sequential"
	// KeyOrderUniform takes any key with the same probability.
	KeyOrderUniform KeyOrder = "Uniform"
	// KeyOrderZipf takes the key of rank r with a probability proportional to
	// r to the power of minus an exponent.
	KeyOrderZipf KeyOrder = "Zipf"
	// KeyOrderHotSpot sends one share of the requests to one share of the keys.
	KeyOrderHotSpot KeyOrder = "HotSpot"
)

// KeySpace is the set of keys that a run touches, and how requests choose among
// them.
//
// +kubebuilder:validation:XValidation:rule="has(self.zipf) == (self.order == 'Zipf')",message="keys.zipf must be set if, and only if, keys.order is Zipf, for example {exponentThousandths: 990}"
// +kubebuilder:validation:XValidation:rule="has(self.hotSpot) == (self.order == 'HotSpot')",message="keys.hotSpot must be set if, and only if, keys.order is HotSpot, for example {keysPerThousand: 200, requestsPerThousand: 800}"
// +kubebuilder:validation:XValidation:rule="self.order != 'HotSpot' || self.count >= 2",message="keys.order HotSpot needs a keys.count of at least 2, a hot key and a cold one: raise it, or set order Sequential for one key"
type KeySpace struct {
	// count is the number of different keys.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Count int64 `json:"count"`

	// order is Sequential (request n takes key n mod count), Uniform (any key,
	// with the same probability), Zipf (few keys are in great demand, as zipf
	// says) or HotSpot (a share of the requests goes to a share of the keys, as
	// hotSpot says). Default Sequential.
	//
	// +optional
	// +kubebuilder:default=Sequential
	Order KeyOrder `json:"order,omitempty"`

	// zipf is how uneven the demand of order Zipf is.
	//
	// +optional
	Zipf *ZipfOrder `json:"zipf,omitempty"`

	// hotSpot is how uneven the demand of order HotSpot is.
	//
	// +optional
	HotSpot *HotSpotOrder `json:"hotSpot,omitempty"`
}

// ZipfOrder is Zipf's law: the key of rank r is taken with a probability
// proportional to r to the power of minus the exponent. Which key has which rank
// follows from the seed: ranks are scattered over the key space.
type ZipfOrder struct {
	// exponentThousandths is the exponent in thousandths: near 0 all keys are
	// alike, at 1000 the second key is taken half as often as the first. Default
	// 990.
	//
	// +optional
	// +kubebuilder:default=990
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	ExponentThousandths int32 `json:"exponentThousandths,omitempty"`
}

// HotSpotOrder sends one share of the requests to one share of the keys, in each
// share with the same probability. Which keys are hot follows from the seed:
// they are scattered over the key space.
type HotSpotOrder struct {
	// keysPerThousand is how many of a thousand keys are hot; at least one key
	// is.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=999
	KeysPerThousand int32 `json:"keysPerThousand"`

	// requestsPerThousand is how many of a thousand requests, on average, take a
	// hot key. The others take a cold one.
	//
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	RequestsPerThousand int32 `json:"requestsPerThousand"`
}
