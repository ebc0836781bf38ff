package v1alpha1

// ValueContent is what values are made of.
//
// +kubebuilder:validation:Enum=Random;Zero;Compressible
type ValueContent string

const (
	// ValueContentRandom is bytes that cannot be compressed.
	ValueContentRandom ValueContent = "Random"
	// ValueContentZero is zero bytes.
	ValueContentZero ValueContent = "Zero"
	// ValueContentCompressible is random bytes and runs of zero bytes in turn.
	ValueContentCompressible ValueContent = "Compressible"
)

// Values is what values are made of, and how their lengths differ. What a value
// is follows from the seed and the number of the request that writes it.
//
// +kubebuilder:validation:XValidation:rule="has(self.randomPercent) == (self.content == 'Compressible')",message="values.randomPercent must be set if, and only if, values.content is Compressible, for example 50"
type Values struct {
	// content is Random (bytes that cannot be compressed), Zero (zero bytes) or
	// Compressible (random bytes and runs of zero bytes in turn). Default Random.
	//
	// +optional
	// +kubebuilder:default=Random
	Content ValueContent `json:"content,omitempty"`

	// randomPercent is how many of a hundred bytes are random in content
	// Compressible; a good compression leaves about as much.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	RandomPercent *int32 `json:"randomPercent,omitempty"`

	// minSize makes lengths differ: each from minSize to valueSize bytes, with
	// the same probability. Default: all values have valueSize bytes.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinSize *int32 `json:"minSize,omitempty"`
}
