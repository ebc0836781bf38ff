package v1alpha1

// KubeletFigures are what the kubelet of a node measured of a member's pod:
// rates from its last sample before the measured window to its first one after.
// Compare them only with figures of kubelets.
type KubeletFigures struct {
	// unknown says why figures are absent.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unknown string `json:"unknown,omitempty"`

	// sampledMicroseconds is the time between the two samples of a container. It
	// differs from the window by a tenth at most.
	//
	// +optional
	SampledMicroseconds int64 `json:"sampledMicroseconds,omitempty"`

	// cpuMillicores is the mean use of processors, in thousandths of a processor.
	//
	// +optional
	CPUMillicores *int64 `json:"cpuMillicores,omitempty"`

	// rssBytes is the resident memory after the window, without mapped files such
	// as etcd's database.
	//
	// +optional
	RSSBytes *int64 `json:"rssBytes,omitempty"`

	// workingSetBytes is the memory after the window, with file pages in use.
	//
	// +optional
	WorkingSetBytes *int64 `json:"workingSetBytes,omitempty"`

	// receivedBytesPerSecond is what the pod received, from clients and members.
	// Absent with hostNetwork.
	//
	// +optional
	ReceivedBytesPerSecond *int64 `json:"receivedBytesPerSecond,omitempty"`

	// sentBytesPerSecond is what the pod sent.
	//
	// +optional
	SentBytesPerSecond *int64 `json:"sentBytesPerSecond,omitempty"`

	// readBytesPerSecond is what the pod read from its busiest device: a device
	// and the one below it count the same bytes.
	//
	// +optional
	ReadBytesPerSecond *int64 `json:"readBytesPerSecond,omitempty"`

	// writtenBytesPerSecond is what the pod wrote to its busiest device. Control
	// groups of version 1 count only direct and synchronous writes.
	//
	// +optional
	WrittenBytesPerSecond *int64 `json:"writtenBytesPerSecond,omitempty"`
}
