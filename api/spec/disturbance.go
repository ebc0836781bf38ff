package spec

import "time"

// DisturbanceType is what happens beside the load.
//
// +kubebuilder:validation:Enum=Compact;Defragment;LeaseExpiry
type DisturbanceType string

// The disturbances.
const (
	// DisturbanceCompact compacts the history of the whole store.
	DisturbanceCompact DisturbanceType = "Compact"
	// DisturbanceDefragment defragments the databases of the members.
	DisturbanceDefragment DisturbanceType = "Defragment"
	// DisturbanceLeaseExpiry lets many leases expire at once.
	DisturbanceLeaseExpiry DisturbanceType = "LeaseExpiry"
)

// DisturbanceTypes are all types.
func DisturbanceTypes() []DisturbanceType {
	return []DisturbanceType{DisturbanceCompact, DisturbanceDefragment, DisturbanceLeaseExpiry}
}

// Disturbance happens in intervals beside the load of the measured window. One
// client pod makes it, and no more of them once the window has ended.
//
// +kubebuilder:validation:XValidation:rule="!has(self.compact) || self.type == 'Compact'",message="compact can only be set where type is Compact: remove it"
// +kubebuilder:validation:XValidation:rule="has(self.leaseExpiry) == (self.type == 'LeaseExpiry')",message="leaseExpiry must be set if, and only if, type is LeaseExpiry"
type Disturbance struct {
	// type is Compact (the history of all keys of the store is compacted, but
	// for the newest revisions), Defragment (the members' databases are
	// defragmented one after the other, the leader's last; meanwhile a member
	// answers nothing) or LeaseExpiry (many leases with keys of the run are
	// granted, and expire together). The first two concern the whole store, not
	// only the keys of the run, and need guard.allowStoreWide.
	//
	// +required
	Type DisturbanceType `json:"type"`

	// everySeconds is the time in seconds from the start of the measured window
	// to the first one, and from the start of one to that of the next. One of
	// LeaseExpiry starts with the grant of its leases. One that is due while another
	// of its type lasts is left out, and counted.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	EverySeconds int32 `json:"everySeconds"`

	// compact are the settings of type Compact.
	//
	// +optional
	Compact *CompactSettings `json:"compact,omitempty"`

	// leaseExpiry are the settings of type LeaseExpiry, for which this field must be
	// set: {} takes all defaults.
	//
	// +optional
	LeaseExpiry *LeaseExpirySettings `json:"leaseExpiry,omitempty"`
}

// CompactSettings say what a compaction leaves.
type CompactSettings struct {
	// keepRevisions is how many of the newest revisions keep their history.
	// Default 1,000.
	//
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000000
	KeepRevisions int64 `json:"keepRevisions"`
}

// LeaseExpirySettings say how many leases expire together.
//
// +kubebuilder:validation:XValidation:rule="self.leases * self.keysPerLease <= 1000000",message="leases times keysPerLease must be at most 1000000: lower one of them"
type LeaseExpirySettings struct {
	// leases that are granted and expire each time. Default 1,000.
	//
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Leases int64 `json:"leases,omitempty"`

	// keysPerLease is how many keys each of them has, which go with it. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	KeysPerLease int64 `json:"keysPerLease,omitempty"`

	// ttlSeconds is the time to live of the leases, in seconds. etcd raises one
	// that is shorter than one and a half times its election timeout: 2 unless
	// that was changed. Default 5.
	//
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	TTLSeconds int64 `json:"ttlSeconds,omitempty"`
}

// defaultKeepRevisions is that of CompactSettings.
const defaultKeepRevisions = 1000

// KeepRevisions is how many of the newest revisions a compaction leaves.
func (d Disturbance) KeepRevisions() int64 {
	if d.Compact == nil {
		return defaultKeepRevisions
	}
	return d.Compact.KeepRevisions
}

// Every is the time from the start of one disturbance to that of the next.
func (d Disturbance) Every() time.Duration { return time.Duration(d.EverySeconds) * time.Second }

// StoreWide says whether it concerns more than the keys of the run.
func (d Disturbance) StoreWide() bool {
	return d.Type == DisturbanceCompact || d.Type == DisturbanceDefragment
}
