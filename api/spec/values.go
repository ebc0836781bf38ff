package spec

// Content is what values are made of.
//
// +kubebuilder:validation:Enum=Random;Zero;Compressible
type Content string

// The contents of values.
const (
	// ContentRandom is bytes that cannot be compressed.
	ContentRandom Content = "Random"
	// ContentZero is zero bytes.
	ContentZero Content = "Zero"
	// ContentCompressible is random bytes and runs of zero bytes in turn.
	ContentCompressible Content = "Compressible"
)

// SizeDistribution is how the lengths of values differ.
//
// +kubebuilder:validation:Enum=Uniform;LogUniform
type SizeDistribution string

// The distributions of lengths.
const (
	// SizesUniform gives each length the same probability.
	SizesUniform SizeDistribution = "Uniform"
	// SizesLogUniform gives each doubling of the length the same probability: many
	// values are short, and a few are long.
	SizesLogUniform SizeDistribution = "LogUniform"
)

// Values are what a run writes: how long the values are, and of what bytes. The
// seed and the number of a request decide what it writes.
//
// +kubebuilder:validation:XValidation:rule="self.sizeBytes <= 1568000",message="values.sizeBytes must be at most 1568000: etcd refuses requests of more than 1.5 MiB (1572864 bytes), of which the key and framing need a part",fieldPath=".sizeBytes"
// +kubebuilder:validation:XValidation:rule="has(self.randomPercent) == (self.content == 'Compressible')",message="values.randomPercent must be set if, and only if, values.content is Compressible, for example 50"
// +kubebuilder:validation:XValidation:rule="!has(self.minSizeBytes) || self.minSizeBytes <= self.sizeBytes",message="values.minSizeBytes must not be greater than values.sizeBytes, the length of the longest value: lower it or raise sizeBytes"
// +kubebuilder:validation:XValidation:rule="self.sizeDistribution != 'LogUniform' || has(self.minSizeBytes) && self.minSizeBytes >= 1",message="values.minSizeBytes, the length of the shortest value, must be set to at least 1 for values.sizeDistribution LogUniform, which counts doublings of it: for example 64"
type Values struct {
	// sizeBytes is the length of a value in bytes, at most 1,568,000: etcd's default
	// limit of a request is 1.5 MiB, of which the key and framing need a part. It is
	// the length of the longest value where minSizeBytes is set. Default 256.
	//
	// +optional
	// +kubebuilder:default=256
	// +kubebuilder:validation:Minimum=0
	SizeBytes int32 `json:"sizeBytes"`

	// content is Random (bytes that cannot be compressed), Zero (zero bytes) or
	// Compressible (random bytes and runs of zero bytes in turn). Default Random.
	//
	// +optional
	// +kubebuilder:default=Random
	Content Content `json:"content,omitempty"`

	// randomPercent is how many of a hundred bytes are random in content
	// Compressible; a good compression leaves about as much.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	RandomPercent *int32 `json:"randomPercent,omitempty"`

	// minSizeBytes makes lengths differ: each value has from minSizeBytes to
	// sizeBytes bytes, as sizeDistribution says. Default: all values have sizeBytes
	// bytes.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinSizeBytes *int32 `json:"minSizeBytes,omitempty"`

	// sizeDistribution is how lengths are distributed from minSizeBytes to
	// sizeBytes: Uniform (each has the same probability) or LogUniform (each doubling
	// of the length has the same probability: with 64 and 65,536 bytes, a tenth of
	// the values has 64 to 127 and a tenth 32,768 to 65,535). Default Uniform.
	//
	// +optional
	// +kubebuilder:default=Uniform
	SizeDistribution SizeDistribution `json:"sizeDistribution,omitempty"`
}

// Shortest is the length of the shortest value in bytes.
func (v Values) Shortest() int {
	if v.MinSizeBytes != nil {
		return int(*v.MinSizeBytes)
	}
	return int(v.SizeBytes)
}

// ZeroPercent is how many of a hundred bytes are zero.
func (v Values) ZeroPercent() int {
	switch {
	case v.Content == ContentZero:
		return 100
	case v.RandomPercent != nil:
		return 100 - int(*v.RandomPercent)
	}
	return 0
}
