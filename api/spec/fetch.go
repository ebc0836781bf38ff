package spec

import "time"

// Layout is how the parameters of a process are stored and read.
//
// +kubebuilder:validation:Enum=Fragmented;Blob;Flat;Tree
type Layout string

// The layouts.
const (
	// LayoutFragmented stores a key per parameter and reads them one by one.
	LayoutFragmented Layout = "Fragmented"
	// LayoutBlob stores all parameters in one value.
	LayoutBlob Layout = "Blob"
	// LayoutFlat stores a key per parameter below one prefix and reads the prefix.
	LayoutFlat Layout = "Flat"
	// LayoutTree stores nested prefixes and reads the outermost one.
	LayoutTree Layout = "Tree"
)

// ParameterSets is whether processes read the same parameters.
//
// +kubebuilder:validation:Enum=Shared;Own
type ParameterSets string

// The sets of parameters.
const (
	// ParametersShared: all processes read the same parameters.
	ParametersShared ParameterSets = "Shared"
	// ParametersOwn: each process has parameters of its own.
	ParametersOwn ParameterSets = "Own"
)

// ConnectTime is when processes open their connections.
//
// +kubebuilder:validation:Enum=Before;AtStart
type ConnectTime string

// The times to connect.
const (
	// ConnectBefore opens the connections before the load.
	ConnectBefore ConnectTime = "Before"
	// ConnectAtStart makes connecting the first step of each process.
	ConnectAtStart ConnectTime = "AtStart"
)

// MaxParameterBytes is the longest value of a Fetch: etcd refuses requests above 1.5 MiB unless it is set otherwise.
const MaxParameterBytes = 1_500_000

// Fetch starts load.clients processes, which read their parameters once: the
// burst at the start of a large application. The parameters are written
// before. Each process is due when the window starts, sends its requests one
// after the other, and ends with the last response. Its latency lasts from
// when it was due until then.
//
// +kubebuilder:validation:XValidation:rule="self.parameterBytes * (self.layout == 'Blob' ? self.parametersPerProcess : 1) <= 1500000",messageExpression="'a value would have %d bytes (with layout Blob, parameterBytes times parametersPerProcess), more than 1500000, and etcd refuses requests above 1.5 MiB: lower one of them, or choose another layout'.format([self.parameterBytes * (self.layout == 'Blob' ? self.parametersPerProcess : 1)])",fieldPath=".parameterBytes"
// +kubebuilder:validation:XValidation:rule="!(self.layout in ['Flat', 'Tree']) || self.parametersPerProcess * (self.parameterBytes + 576) <= 50331648",messageExpression="'one response would have more than 48 MiB: %d parameters of %d bytes, and up to 576 bytes for each key; lower parametersPerProcess or parameterBytes'.format([self.parametersPerProcess, self.parameterBytes])",fieldPath=".parametersPerProcess"
type Fetch struct {
	// layout is how parameters are stored and read:
	// - Fragmented: one key per parameter, one request for each.
	// - Blob: all parameters in one value, one request.
	// - Flat: one key per parameter below one prefix, one request for all.
	// - Tree: a binary tree of prefixes with five parameters each, whose names
	//   repeat the path; one request for all.
	//
	// Default Flat.
	//
	// +optional
	// +kubebuilder:default=Flat
	Layout Layout `json:"layout,omitempty"`

	// parametersPerProcess is how many parameters each process reads. Default 100.
	//
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	ParametersPerProcess int32 `json:"parametersPerProcess,omitempty"`

	// parameterBytes is the length of a parameter in bytes. They are letters and
	// digits. Default 100.
	//
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1500000
	ParameterBytes int32 `json:"parameterBytes,omitempty"`

	// parameters is Shared if all processes read the same parameters, Own if each
	// has its own. Default Shared.
	//
	// +optional
	// +kubebuilder:default=Shared
	Parameters ParameterSets `json:"parameters,omitempty"`

	// consistency of the reads, as in workload.range. Default Serializable.
	//
	// +optional
	// +kubebuilder:default=Serializable
	Consistency Consistency `json:"consistency,omitempty"`

	// connect is AtStart if each process opens its connection when it starts, so
	// that its latency includes that: load.connections must equal load.clients.
	// It is Before if connections are open before the load. Default AtStart.
	//
	// +optional
	// +kubebuilder:default=AtStart
	Connect ConnectTime `json:"connect,omitempty"`

	// rampSeconds spreads the starts of the processes evenly over this time, in
	// seconds. 0 starts all at once. Default 0.
	//
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	RampSeconds int32 `json:"rampSeconds"`

	// timeoutMilliseconds is how long, in milliseconds, one attempt of a request
	// may take, connecting included. An attempt that takes longer is counted and
	// repeated at once. It replaces load.requestTimeoutSeconds in the load.
	// Default 10000.
	//
	// +optional
	// +kubebuilder:default=10000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600000
	TimeoutMilliseconds int32 `json:"timeoutMilliseconds,omitempty"`

	// attempts is how often a request is sent at most. A process whose last
	// attempt timed out, or which got another error, has failed. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Attempts int32 `json:"attempts,omitempty"`
}

// Timeout is how long an attempt may take.
func (f Fetch) Timeout() time.Duration {
	return time.Duration(f.TimeoutMilliseconds) * time.Millisecond
}
