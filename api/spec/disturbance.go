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
	// DisturbanceLeaseExpiry lets many leases expire at the same time.
	DisturbanceLeaseExpiry DisturbanceType = "LeaseExpiry"
)

// DisturbanceTypes returns all types.
func DisturbanceTypes() []DisturbanceType {
	return []DisturbanceType{DisturbanceCompact, DisturbanceDefragment, DisturbanceLeaseExpiry}
}

// Disturbance happens at intervals beside the load of the measured window.
// Client pod 0 makes it. None starts after the window has ended.
//
// +kubebuilder:validation:XValidation:rule="!has(self.compact) || self.type == 'Compact'",message="is only for type Compact: remove it",fieldPath=".compact"
// +kubebuilder:validation:XValidation:rule="has(self.leaseExpiry) == (self.type == 'LeaseExpiry')",messageExpression="self.type == 'LeaseExpiry' ? 'must be set for type LeaseExpiry: {} takes all defaults' : 'is only for type LeaseExpiry: remove it'",fieldPath=".leaseExpiry"
type Disturbance struct {
	// type is one of:
	// - Compact: the history of all keys of the store is compacted, except for
	//   the newest revisions.
	// - Defragment: the databases of the members are defragmented one after the
	//   other, the leader's last. A member answers no request during its
	//   defragmentation.
	// - LeaseExpiry: many leases with keys of the run are granted, and expire
	//   together.
	//
	// Compact and Defragment affect the whole store, not only the keys of the run.
	// They need guard.allowStoreWide.
	//
	// +required
	Type DisturbanceType `json:"type"`

	// everySeconds is the interval in seconds: from the start of the measured
	// window to the first disturbance, and from the start of one to the start of
	// the next. A LeaseExpiry starts with the grant of its leases. A disturbance
	// that is due while another of its type still runs is left out and counted.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	EverySeconds int32 `json:"everySeconds"`

	// compact has the settings of type Compact. Default: 1,000 revisions are kept.
	//
	// +optional
	Compact *CompactSettings `json:"compact,omitempty"`

	// leaseExpiry has the settings of type LeaseExpiry, which requires this field.
	// {} takes all defaults.
	//
	// +optional
	LeaseExpiry *LeaseExpirySettings `json:"leaseExpiry,omitempty"`
}

// CompactSettings say what a compaction keeps.
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
// +kubebuilder:validation:XValidation:rule="self.leases * self.keysPerLease <= 1000000",messageExpression="'leases (%d, default 1000) times keysPerLease (%d, default 1) must be at most 1000000: lower one of them'.format([self.leases, self.keysPerLease])"
type LeaseExpirySettings struct {
	// leases is how many leases are granted and expire each time. Default 1,000.
	//
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Leases int64 `json:"leases,omitempty"`

	// keysPerLease is how many keys are attached to each lease. They are deleted
	// when it expires. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	KeysPerLease int64 `json:"keysPerLease,omitempty"`

	// ttlSeconds is the time to live of the leases, in seconds. etcd raises a time
	// that is shorter than one and a half times its election timeout; with the
	// default election timeout the minimum is 2. Default 5.
	//
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	TTLSeconds int64 `json:"ttlSeconds,omitempty"`
}

// defaultKeepRevisions is the default of CompactSettings.KeepRevisions.
const defaultKeepRevisions = 1000

// KeepRevisions is how many of the newest revisions a compaction keeps.
func (d Disturbance) KeepRevisions() int64 {
	if d.Compact == nil {
		return defaultKeepRevisions
	}
	return d.Compact.KeepRevisions
}

// Every is the time from the start of one disturbance to the start of the next.
func (d Disturbance) Every() time.Duration { return time.Duration(d.EverySeconds) * time.Second }

// StoreWide reports whether the disturbance affects more than the keys of the run.
func (d Disturbance) StoreWide() bool {
	return d.Type == DisturbanceCompact || d.Type == DisturbanceDefragment
}
