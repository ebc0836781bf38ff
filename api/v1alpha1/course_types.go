package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// WatchSummary is the result of the watchers and of the events that they
// should receive.
type WatchSummary struct {
	// watchers is how many watchers were opened before the load.
	//
	// +optional
	Watchers int64 `json:"watchers"`

	// expectedEvents is how many events the watchers should receive. Each
	// acknowledged put of the measured window counts for the watchers of the same
	// pod. For WatchGet it is how many events the replays have.
	//
	// +optional
	ExpectedEvents int64 `json:"expectedEvents"`

	// missedEvents is how many expected events had not arrived when
	// load.requestTimeoutSeconds had passed after the last answer.
	//
	// +optional
	MissedEvents int64 `json:"missedEvents"`

	// duplicateEvents is how many events a watcher received again.
	//
	// +optional
	DuplicateEvents int64 `json:"duplicateEvents"`

	// cancelledWatchers is how often etcd ended a watcher, for example because
	// there was no leader. The watcher continues after its last event. If the
	// events after that were compacted, it misses the events until it is opened
	// again.
	//
	// +optional
	CancelledWatchers int64 `json:"cancelledWatchers"`

	// resumedWatchers is how often a watcher was opened again at its last position
	// because its stream had broken.
	//
	// +optional
	ResumedWatchers int64 `json:"resumedWatchers"`

	// replays is how often, in the measured window, a watcher of WatchGet read its
	// history to the end.
	//
	// +optional
	Replays int64 `json:"replays,omitempty"`
}

// DisturbanceSummary is the result of the disturbances of one type.
type DisturbanceSummary struct {
	// type is the type of the disturbances.
	//
	// +required
	Type spec.DisturbanceType `json:"type"`

	// count is how many were started. Each member that is defragmented counts as
	// one.
	//
	// +optional
	Count int64 `json:"count"`

	// failed is how many failed, or had not ended when the window ended.
	//
	// +optional
	Failed int64 `json:"failed,omitempty"`

	// leftOut is how many were due in the measured window but left out, because the
	// one before had not ended.
	//
	// +optional
	LeftOut int64 `json:"leftOut,omitempty"`

	// problem says why the last failed disturbance failed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Problem string `json:"problem,omitempty"`

	// meanMicroseconds is how long a disturbance took on average.
	//
	// +optional
	MeanMicroseconds int64 `json:"meanMicroseconds"`

	// maxMicroseconds is how long the longest disturbance took.
	//
	// +optional
	MaxMicroseconds int64 `json:"maxMicroseconds"`

	// marks are the times of the first 64 disturbances.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Marks []DisturbanceMark `json:"marks,omitempty"`
}

// DisturbanceMark is the time of one disturbance.
type DisturbanceMark struct {
	// afterMicroseconds is the time from the start of the measured window to the
	// start of the disturbance. For type LeaseExpiry it is the time to when the
	// first lease was due to expire: leaseExpiry.ttlSeconds after its grant, or
	// later if etcd raised that.
	//
	// +optional
	AfterMicroseconds int64 `json:"afterMicroseconds"`

	// tookMicroseconds is how long the disturbance took. For type LeaseExpiry it
	// is the time from when the first lease was due to expire until no key was
	// left.
	//
	// +optional
	TookMicroseconds int64 `json:"tookMicroseconds"`

	// member is the ID of the disturbed member. Empty if the whole store was
	// disturbed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Member string `json:"member,omitempty"`
}
