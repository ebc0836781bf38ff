package spec

// Content is what values are made of.
//
// +kubebuilder:validation:Enum=Random;Zero;Compressible;Pod
type Content string

// The contents of values.
const (
	// ContentRandom is bytes that cannot be compressed.
	ContentRandom Content = "Random"
	// ContentZero is zero bytes.
	ContentZero Content = "Zero"
	// ContentCompressible alternates random bytes and runs of zero bytes.
	ContentCompressible Content = "Compressible"
	// ContentPod is a Pod as an API server stores it. IDs and texts differ from
	// value to value.
	ContentPod Content = "Pod"
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
	// values are short, and a few are long. From 64 to 65,536 bytes, a tenth of
	// the values has 64 to 127 bytes and a tenth 32,768 to 65,535.
	SizesLogUniform SizeDistribution = "LogUniform"
)

// MaxRequestBytes is the most bytes of the keys and values of one request. With
// the framing, they stay below 10 MiB: etcd warns of a higher --max-request-bytes,
// and older versions of etcd cannot read an entry of their log that is longer.
const MaxRequestBytes = 10_480_000

// Values are what a run writes: the length and the bytes of the values. The
// seed and the number of a request decide what it writes.
//
// +kubebuilder:validation:XValidation:rule="self.sizeBytes <= 10480000",message="must be at most 10480000: etcd recommends at most 10 MiB per request, with its key",fieldPath=".sizeBytes"
// +kubebuilder:validation:XValidation:rule="has(self.randomPercent) == (self.content == 'Compressible')",messageExpression="self.content == 'Compressible' ? 'must be set for content Compressible, for example 50' : 'is only for content Compressible: remove it'",fieldPath=".randomPercent"
// +kubebuilder:validation:XValidation:rule="!has(self.minSizeBytes) || self.minSizeBytes <= self.sizeBytes",messageExpression="'must be at most sizeBytes (%d, default 256), found %d: lower it or raise sizeBytes'.format([self.sizeBytes, self.minSizeBytes])",fieldPath=".minSizeBytes"
// +kubebuilder:validation:XValidation:rule="self.sizeDistribution != 'LogUniform' || has(self.minSizeBytes) && self.minSizeBytes >= 1",message="must be at least 1 for sizeDistribution LogUniform, which doubles from it: for example 64",fieldPath=".minSizeBytes"
type Values struct {
	// sizeBytes is the length of a value, with minSizeBytes of the longest one.
	// Above 1,568,000, raise etcd's --max-request-bytes. Default 256.
	//
	// +optional
	// +kubebuilder:default=256
	// +kubebuilder:validation:Minimum=0
	SizeBytes int32 `json:"sizeBytes"`

	// content is Random (bytes that do not compress), Zero, Compressible (both
	// alternate) or Pod (as API servers store it). Default Random.
	//
	// +optional
	// +kubebuilder:default=Random
	Content Content `json:"content,omitempty"`

	// randomPercent is the share of random bytes of content Compressible.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	RandomPercent *int32 `json:"randomPercent,omitempty"`

	// minSizeBytes makes lengths differ, from minSizeBytes to sizeBytes.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	MinSizeBytes *int32 `json:"minSizeBytes,omitempty"`

	// sizeDistribution of lengths is Uniform, or LogUniform: each doubling has the
	// same probability. Default Uniform.
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

// ZeroPercent is the share of zero bytes, in percent.
func (v Values) ZeroPercent() int {
	switch {
	case v.Content == ContentZero:
		return 100
	case v.RandomPercent != nil:
		return 100 - int(*v.RandomPercent)
	}
	return 0
}
