package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// WatchSummary is what became of the watchers, and of the events that they were
// to see.
type WatchSummary struct {
	// watchers that were opened before the load.
	//
	// +optional
	Watchers int64 `json:"watchers"`

	// expectedEvents is how many events the acknowledged puts of the measured
	// window owe the watchers of their own pods; of WatchGet, how many events the
	// replays have.
	//
	// +optional
	ExpectedEvents int64 `json:"expectedEvents"`

	// missedEvents are those of them that had not come when the time that a
	// request may take had passed after the last answer.
	//
	// +optional
	MissedEvents int64 `json:"missedEvents"`

	// duplicateEvents is how many events a watcher was given once more.
	//
	// +optional
	DuplicateEvents int64 `json:"duplicateEvents"`

	// cancelledWatchers is how often etcd ended a watcher, for example for want of
	// a leader. It goes on after its last event; only if what comes there had been
	// compacted, it misses what came until it was opened anew.
	//
	// +optional
	CancelledWatchers int64 `json:"cancelledWatchers"`

	// resumedWatchers is how often a watcher was opened anew, where it had been,
	// because its stream had broken.
	//
	// +optional
	ResumedWatchers int64 `json:"resumedWatchers"`

	// replays is how often, in the measured window, a watcher of WatchGet has read
	// its history to the end.
	//
	// +optional
	Replays int64 `json:"replays,omitempty"`
}

// DisturbanceSummary is what came of the disturbances of one type.
type DisturbanceSummary struct {
	// type of the disturbances.
	//
	// +required
	Type spec.DisturbanceType `json:"type"`

	// count is how many were begun. Each member that is defragmented counts.
	//
	// +optional
	Count int64 `json:"count"`

	// failed is how many failed, or still went on when the window ended.
	//
	// +optional
	Failed int64 `json:"failed,omitempty"`

	// leftOut is how many were due in the measured window while the one before
	// still went on, and were not begun.
	//
	// +optional
	LeftOut int64 `json:"leftOut,omitempty"`

	// problem is why the last of them failed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Problem string `json:"problem,omitempty"`

	// meanMicroseconds is how long one took on average.
	//
	// +optional
	MeanMicroseconds int64 `json:"meanMicroseconds"`

	// maxMicroseconds is how long the longest took.
	//
	// +optional
	MaxMicroseconds int64 `json:"maxMicroseconds"`

	// marks say when each was, of the first 64.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Marks []DisturbanceMark `json:"marks,omitempty"`
}

// DisturbanceMark is when one disturbance was.
type DisturbanceMark struct {
	// afterMicroseconds is from the start of the measured window to its start; of
	// type LeaseExpiry, to when the first lease was due to expire, which is
	// leaseExpiry.ttlSeconds, or more if etcd raised that, after it was granted.
	//
	// +optional
	AfterMicroseconds int64 `json:"afterMicroseconds"`

	// tookMicroseconds is how long it took; of type LeaseExpiry, from when the
	// first lease was due to expire until no key was left.
	//
	// +optional
	TookMicroseconds int64 `json:"tookMicroseconds"`

	// member that it was done to, by its ID; empty where that is the whole store.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Member string `json:"member,omitempty"`
}
