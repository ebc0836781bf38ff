package spec

// MaxEntryBytes is the longest entry of an Append. etcd refuses requests above
// 1.5 MiB unless it is set otherwise.
const MaxEntryBytes = 1_500_000

// Append appends one entry to a write-ahead log with each request, and flushes
// it to the disk. The log is that of etcd: its code writes a file of 64 MB
// whose space is allocated before, and calls fdatasync after each entry.
type Append struct {
	// entryBytes is the length of an entry in bytes. The log adds about 30 bytes.
	// Default 2300, as in etcd's advice for fio.
	//
	// +optional
	// +kubebuilder:default=2300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1500000
	EntryBytes int32 `json:"entryBytes,omitempty"`
}
