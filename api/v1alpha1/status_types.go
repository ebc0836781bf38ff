package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// EtcdBenchmarkStatus is the progress and the result of a run. Durations are
// integers with their unit in the name.
type EtcdBenchmarkStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the run:
	// - Finished: False, with the stage as reason, then True, with how the run
	//   ended.
	// - Passed: whether all objectives were met. Absent without objectives.
	// - Cleaned: whether the keys of the run are deleted.
	// - Reconciling, Stalled: present only while True.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// startTime is when the operator first handled the run.
	//
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	QueueState `json:",inline"`

	// startAt is when all client pods start. It is written here before any pod
	// receives it.
	//
	// +optional
	StartAt *metav1.MicroTime `json:"startAt,omitempty"`

	// ending is why, and since when, the operator ends the run before it has
	// completed. Once set it does not change. It becomes the reason of Finished.
	// The exception is a stop that came when the load was over.
	//
	// +optional
	Ending *Ending `json:"ending,omitempty"`

	// guard is the rule of spec.guard.stopOn that ended the run. Absent: no rule
	// did.
	//
	// +optional
	Guard *GuardStatus `json:"guard,omitempty"`

	// completionTime is when the run finished.
	//
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// job is the load Job. It is created once. If it is deleted later, the run
	// ends as JobDeleted.
	//
	// +optional
	Job *JobReference `json:"job,omitempty"`

	// cleanupJob is the newest Job that deletes keys which the client pods have
	// left. Its name is chosen before it is created. Absent: there was none.
	//
	// +optional
	CleanupJob *JobReference `json:"cleanupJob,omitempty"`

	// ephemeral has the members that exist for this run.
	//
	// +optional
	Ephemeral *EphemeralStatus `json:"ephemeral,omitempty"`

	// target has the resolved addresses, and what the target reported about
	// itself.
	//
	// +optional
	Target *TargetStatus `json:"target,omitempty"`

	// resolved is what the run does and what its result must reach: the fields of
	// spec, or those that spec.profile sets. It has the form of spec.workload,
	// spec.load and spec.objectives.
	//
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Resolved *Resolved `json:"resolved,omitempty"`

	// progress is how far the run is while it goes on.
	//
	// +optional
	Progress *Progress `json:"progress,omitempty"`

	// summary is the merged result of all client pods.
	//
	// +optional
	Summary *Summary `json:"summary,omitempty"`

	// requestCounts are all requests that the run sent, by RPC and phase, if it
	// ended before it measured and so has no summary. Otherwise they are in
	// summary.
	//
	// +optional
	// +listType=map
	// +listMapKey=rpc
	// +kubebuilder:validation:MaxItems=32
	RequestCounts []RequestCount `json:"requestCounts,omitempty"`

	// objectives are the results of spec.objectives, by name, after those of the
	// checks of workload.type Observe.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Objectives []ObjectiveStatus `json:"objectives,omitempty"`

	// pods are the client pods, by index.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Pods []PodStatus `json:"pods,omitempty"`

	// reportName is the ConfigMap with the merged histograms.
	//
	// +optional
	ReportName string `json:"reportName,omitempty"`

	// display holds short texts for kubectl get. Programs read summary.
	//
	// +optional
	Display *Display `json:"display,omitempty"`
}

// GuardStatus is the rule of spec.guard.stopOn that ended the run.
type GuardStatus struct {
	// rule is Alarm, Quota, LeaderChange, DatabaseSize, ErrorRatio or WALFsync.
	//
	// +required
	Rule spec.GuardRule `json:"rule"`

	// subject is the member or the client pod that exceeded the limit.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Subject string `json:"subject,omitempty"`

	// wanted is the limit, with its unit.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Wanted string `json:"wanted,omitempty"`

	// got is the value that was found, with its unit.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Got string `json:"got,omitempty"`

	// firedAt is when the rule fired, by the clock of the client pod that reported
	// it.
	//
	// +required
	FiredAt metav1.MicroTime `json:"firedAt"`
}

// JobReference identifies a Job of the run.
type JobReference struct {
	// name of the Job.
	//
	// +required
	Name string `json:"name"`

	// uid of the Job. Absent: it is not known whether the Job exists.
	//
	// +optional
	UID types.UID `json:"uid,omitempty"`
}

// Ending is why, and since when, the operator ends a run before it has
// completed.
type Ending struct {
	// reason of the condition Finished when the run has ended.
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// message of the condition Finished when the run has ended.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// since is when the operator found the reason.
	//
	// +required
	Since metav1.Time `json:"since"`
}

// ObjectiveResult is the result of an objective.
//
// +kubebuilder:validation:Enum=Met;Missed;Unknown
type ObjectiveResult string

const (
	// ObjectiveMet means that the limit was kept.
	ObjectiveMet ObjectiveResult = "Met"
	// ObjectiveMissed means that the limit was not kept.
	ObjectiveMissed ObjectiveResult = "Missed"
	// ObjectiveUnknown means that the numbers do not allow a verdict.
	ObjectiveUnknown ObjectiveResult = "Unknown"
)

// ObjectiveStatus is the result of one objective.
type ObjectiveStatus struct {
	// name of the objective in spec.
	//
	// +required
	Name string `json:"name"`

	// result is Met, Missed or Unknown.
	//
	// +required
	Result ObjectiveResult `json:"result"`

	// wanted is the limit, with its unit.
	//
	// +optional
	Wanted string `json:"wanted,omitempty"`

	// got is the measured value, with its unit.
	//
	// +optional
	Got string `json:"got,omitempty"`

	// message says why, if the result alone does not show it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// reason is why the result is Unknown, in one word, if it is one that other
	// objectives can share: ClientBound or TailTooThin.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`
}

// Display holds short texts for kubectl get.
type Display struct {
	// target is where the load goes, for example service etcd-client.
	//
	// +optional
	Target string `json:"target,omitempty"`

	// throughput is the successful requests per second, for example 48,123/s.
	//
	// +optional
	Throughput string `json:"throughput,omitempty"`

	// p50 is the median latency, for example 4.1ms.
	//
	// +optional
	P50 string `json:"p50,omitempty"`

	// p99 is the 99th percentile of latency, for example 25.1ms.
	//
	// +optional
	P99 string `json:"p99,omitempty"`

	// errors is the number of failed requests.
	//
	// +optional
	Errors string `json:"errors,omitempty"`

	// pods is how many client pods reported, of all, for example 3/3.
	//
	// +optional
	Pods string `json:"pods,omitempty"`

	// load is connections × clients over all pods, for example 10×100.
	//
	// +optional
	Load string `json:"load,omitempty"`

	// rate is the offered rate, for example 2,000/s, or closed loop.
	//
	// +optional
	Rate string `json:"rate,omitempty"`

	// members is the number of members, and which of them receive the load, for
	// example 3 (leader only).
	//
	// +optional
	Members string `json:"members,omitempty"`
}
