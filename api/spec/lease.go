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

// MaxLeases bounds the leases that the requests of a run grant, renew or
// revoke. MaxLeaseTTL bounds their ttlSeconds.
const (
	MaxLeases   = 1_000_000
	MaxLeaseTTL = 31_536_000
)

// KeepAliveMode is how renewals are sent.
//
// +kubebuilder:validation:Enum=Once;Stream
type KeepAliveMode string

// The modes of renewals.
const (
	// KeepAliveOnce opens a stream for each renewal, as etcd's own benchmark does.
	KeepAliveOnce KeepAliveMode = "Once"
	// KeepAliveStream sends the renewals of a client over one stream that stays
	// open, as applications do.
	KeepAliveStream KeepAliveMode = "Stream"
)

// Lease grants, renews or revokes a lease with each request. The leases have
// no keys.
//
// +kubebuilder:validation:XValidation:rule="has(self.keepAlive) == (self.operation == 'KeepAlive')",messageExpression="self.operation == 'KeepAlive' ? 'must be set for operation KeepAlive: {} takes all defaults' : 'is only for operation KeepAlive: remove it'",fieldPath=".keepAlive"
type Lease struct {
	// operation is what each request does:
	// - Grant: grants a new lease, which stays until the run ends.
	// - KeepAlive: renews one of a number of leases, in turn.
	// - Revoke: revokes a lease that was granted before the load.
	//
	// Grant and Revoke need load.requests, at most 1,000,000. A warm-up with Grant
	// needs load.rate.perSecond, and its grants count toward this limit.
	//
	// +required
	Operation LeaseOperation `json:"operation"`

	// ttlSeconds is the time to live of every lease, in seconds. Leases are
	// revoked when the run ends; if that fails, they expire after this time.
	// Leases that are granted before the load must not expire before it starts.
	// Default 3600.
	//
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	TTLSeconds int64 `json:"ttlSeconds,omitempty"`

	// keepAlive has the settings of operation KeepAlive, which requires it. {}
	// takes all defaults.
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
