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

// ValueSizes is how the lengths of values differ.
//
// +kubebuilder:validation:Enum=Uniform;LogUniform
type ValueSizes string

const (
	// ValueSizesUniform gives each length the same probability.
	ValueSizesUniform ValueSizes = "Uniform"
	// ValueSizesLogUniform gives the logarithm of the length the same
	// probability everywhere: many values are short, and a few are long.
	ValueSizesLogUniform ValueSizes = "LogUniform"
)

// Values is what values are made of, and how their lengths differ. What a value
// is follows from the seed and the number of the request that writes it.
//
// +kubebuilder:validation:XValidation:rule="has(self.randomPercent) == (self.content == 'Compressible')",message="values.randomPercent must be set if, and only if, values.content is Compressible, for example 50"
// +kubebuilder:validation:XValidation:rule="self.sizes != 'LogUniform' || (has(self.minSize) && self.minSize >= 1)",message="values.minSize, the length of the shortest value, must be set to at least 1 for values.sizes LogUniform, which counts doublings of it: for example 64"
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

	// minSize makes lengths differ: each value has from minSize to valueSize
	// bytes, as sizes says. Default: all values have valueSize bytes.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinSize *int32 `json:"minSize,omitempty"`

	// sizes is how lengths are distributed from minSize to valueSize: Uniform (each
	// has the same probability) or LogUniform (each doubling of the length has the
	// same probability: with 64 and 65,536 bytes, a tenth of the values has 64 to
	// 127 and a tenth 32,768 to 65,535). Default Uniform.
	//
	// +optional
	// +kubebuilder:default=Uniform
	Sizes ValueSizes `json:"sizes,omitempty"`
}
