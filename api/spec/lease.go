package spec

// LeaseOperation is what one request does with a lease.
//
// +kubebuilder:validation:Enum=Grant;KeepAlive;Revoke
type LeaseOperation string

// The operations on leases.
const (
	// LeaseGrant grants a new lease.
	LeaseGrant LeaseOperation = "Grant"
	// LeaseKeepAlive renews a lease.
	LeaseKeepAlive LeaseOperation = "KeepAlive"
	// LeaseRevoke revokes a lease.
	LeaseRevoke LeaseOperation = "Revoke"
)

// MaxLeases bounds the leases that a run grants on purpose.
const MaxLeases = 1_000_000

// KeepAliveMode is how renewals travel.
//
// +kubebuilder:validation:Enum=Once;Stream
type KeepAliveMode string

// The modes of renewals.
const (
	// KeepAliveOnce opens a stream for each renewal, as etcd's own benchmark does.
	KeepAliveOnce KeepAliveMode = "Once"
	// KeepAliveStream sends the renewals of a client over one stream that stays
	// open, as clients that keep leases do.
	KeepAliveStream KeepAliveMode = "Stream"
)

// Lease grants, renews or revokes a lease with each request. No keys are attached
// to the leases.
//
// +kubebuilder:validation:XValidation:rule="has(self.keepAlive) == (self.operation == 'KeepAlive')",message="lease.keepAlive must be set if, and only if, lease.operation is KeepAlive"
type Lease struct {
	// operation is Grant (each request grants a new lease, which stays until the
	// run ends), KeepAlive (each request renews one of a number of leases, in
	// turn) or Revoke (each request revokes a lease of its own, which was granted
	// before the load). Grant and Revoke need load.requests, at most 1,000,000.
	// Grants of a warm-up, which needs load.rate.perSecond, are among these.
	//
	// +required
	Operation LeaseOperation `json:"operation"`

	// ttlSeconds is the time to live of every lease, in seconds. Leases are
	// revoked when the run ends; this is how long they stay if that fails, and
	// how long those that were granted before the load may wait for its start.
	// Default 3600.
	//
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	TTLSeconds int64 `json:"ttlSeconds,omitempty"`

	// keepAlive says how KeepAlive renews.
	//
	// +optional
	KeepAlive *KeepAlive `json:"keepAlive,omitempty"`
}

// KeepAlive says which leases are renewed, and how.
type KeepAlive struct {
	// mode is Once (each renewal opens a stream, as etcd's own benchmark does) or
	// Stream (each client keeps one stream open). Default Stream.
	//
	// +optional
	// +kubebuilder:default=Stream
	Mode KeepAliveMode `json:"mode,omitempty"`

	// leases is how many leases are renewed in turn. Default 1,000.
	//
	// +optional
	// +kubebuilder:default=1000
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Leases int64 `json:"leases,omitempty"`
}
