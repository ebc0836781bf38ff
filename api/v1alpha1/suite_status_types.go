package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// EtcdBenchmarkSuiteStatus is the progress and the result of a suite.
type EtcdBenchmarkSuiteStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the suite:
	// - Finished: False while runs are left, then True, with how the suite ended.
	// - Passed: whether no run missed an objective and no metric regressed; for a
	//   search, whether a rate meets all objectives in each cell. Absent without
	//   objectives and without compare.
	// - Cleaned: whether the keys of all runs are deleted.
	// - Reconciling, Stalled: as for EtcdBenchmark.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// startTime is when the operator had checked all cells, before the first run.
	//
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the suite finished.
	//
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// estimatedEnd is when the last run is expected to end.
	//
	// +optional
	EstimatedEnd *metav1.Time `json:"estimatedEnd,omitempty"`

	// seed determines the order of the cells in each round.
	//
	// +optional
	Seed *int64 `json:"seed,omitempty"`

	// current is the name of the EtcdBenchmark that runs now.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Current string `json:"current,omitempty"`

	// pausedUntil is when the next probe of a search may be created. Absent: there
	// is no pause.
	//
	// +optional
	PausedUntil *metav1.Time `json:"pausedUntil,omitempty"`

	// runs counts the runs.
	//
	// +optional
	Runs SuiteRuns `json:"runs,omitzero"`

	// display has texts for kubectl get.
	//
	// +optional
	Display *SuiteDisplay `json:"display,omitempty"`

	// baseline has the numbers of the suite that spec.compare.baseline names, as they
	// were when this suite started.
	//
	// +optional
	Baseline *StoredBaseline `json:"baseline,omitempty"`

	// results are the numbers of the runs that have ended, in the order of their
	// start. If an invalid run was repeated, both results are in the list.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1000
	Results []SuiteResult `json:"results,omitempty"`

	// warnings are the warnings of the runs, one of each kind.
	//
	// +optional
	// +listType=map
	// +listMapKey=kind
	// +kubebuilder:validation:MaxItems=64
	Warnings []SuiteWarning `json:"warnings,omitempty"`

	// capacities are the answers of spec.search, one per cell.
	//
	// +optional
	// +listType=map
	// +listMapKey=cell
	// +kubebuilder:validation:MaxItems=100
	Capacities []SuiteCapacity `json:"capacities,omitempty"`

	// comparisons are the results of spec.compare.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=400
	Comparisons []SuiteComparison `json:"comparisons,omitempty"`
}

// SuiteDisplay has texts for kubectl get.
type SuiteDisplay struct {
	// runs that have ended, of all that are planned, for example 12/60.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Runs string `json:"runs,omitempty"`
}

// SuiteRuns counts the runs of a suite.
type SuiteRuns struct {
	// cells is the number of combinations of target, workload and load.
	//
	// +optional
	Cells int32 `json:"cells,omitempty"`

	// planned is cells × rounds, and the runs of confirmRounds when they are known.
	// While searches go on, it is the most that they can need.
	//
	// +optional
	Planned int32 `json:"planned,omitempty"`

	// finished is how many planned runs have ended.
	//
	// +optional
	Finished int32 `json:"finished"`

	// repeated is how many invalid runs were repeated.
	//
	// +optional
	Repeated int32 `json:"repeated,omitempty"`

	// invalid is how many of them have numbers that cannot be compared.
	//
	// +optional
	Invalid int32 `json:"invalid"`

	// missed is how many of them missed an objective.
	//
	// +optional
	Missed int32 `json:"missed"`

	// regressed is how many comparisons are worse than the tolerance. Absent
	// without compare.
	//
	// +optional
	Regressed *int32 `json:"regressed,omitempty"`
}

// SuiteResult has the numbers of one run.
type SuiteResult struct {
	// name of the EtcdBenchmark.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// cell is the name of the cell: the names of its target, workload and load,
	// with a slash between them.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// round of the run, from 1; for a probe, its number within the cell.
	//
	// +required
	Round int32 `json:"round"`

	// probe says what the run was for in a search. Absent without spec.search.
	//
	// +optional
	Probe *SuiteProbe `json:"probe,omitempty"`

	// reason is how the run ended: the reason of its condition Finished; or
	// - Deleted: somebody deleted it before it ended.
	// - Refused: the API server refused to create it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// passed is the run's condition Passed. Absent: it has no objectives.
	//
	// +optional
	Passed metav1.ConditionStatus `json:"passed,omitempty"`

	// cleaned is the run's condition Cleaned. Absent: not known yet, or the run had
	// nothing to delete.
	//
	// +optional
	Cleaned metav1.ConditionStatus `json:"cleaned,omitempty"`

	Environment `json:",inline"`

	// warnings are the kinds of the run's warnings. status.warnings explains them.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=32
	Warnings []string `json:"warnings,omitempty"`

	// missed are the objectives that the run missed.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Missed string `json:"missed,omitempty"`

	// invalid is why its numbers cannot be compared. Absent: they can.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Invalid string `json:"invalid,omitempty"`

	// operations are the numbers of each kind of request. If the suite has more than
	// 30 runs, only the kinds with the most requests are kept.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Operations []SuiteOperation `json:"operations,omitempty"`

	// serverMemoryBytes is the mean resident memory of the members.
	//
	// +optional
	ServerMemoryBytes int64 `json:"serverMemoryBytes,omitempty"`

	// values are the values of spec.compare.metrics, in their order: in
	// microseconds, or in 1000 × requests per second.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Values []SuiteValue `json:"values,omitempty"`
}

// SuiteWarning is a kind of warning. warnings of the results name it.
type SuiteWarning struct {
	// kind is its name. "kubectl etcdbench explain" knows it.
	//
	// +required
	// +kubebuilder:validation:MaxLength=32
	Kind string `json:"kind"`

	// message is the warning of the first run that has it. Numbers in it are those
	// of this run.
	//
	// +required
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message"`

	// run is the name of that run.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run"`

	// runs is how many runs have such a warning.
	//
	// +optional
	Runs int32 `json:"runs"`
}

// SuiteOperation has the numbers of one kind of request in one run.
type SuiteOperation struct {
	// operation is the kind of request.
	//
	// +required
	Operation spec.Operation `json:"operation"`

	// succeeded is how many requests succeeded.
	//
	// +optional
	Succeeded int64 `json:"succeeded"`

	// failed is how many requests failed or were unanswered.
	//
	// +optional
	Failed int64 `json:"failed,omitempty"`

	// throughputMilliPerSecond is 1000 × the rate of successful requests.
	//
	// +optional
	ThroughputMilliPerSecond int64 `json:"throughputMilliPerSecond"`

	// meanMicroseconds is the mean latency.
	//
	// +optional
	MeanMicroseconds int64 `json:"meanMicroseconds,omitempty"`

	// atLeast is true if requests were unanswered at the end, so that the
	// latencies may be greater.
	//
	// +optional
	AtLeast bool `json:"atLeast,omitempty"`

	// p50Microseconds is the median latency.
	//
	// +optional
	P50Microseconds int64 `json:"p50Microseconds,omitempty"`

	// p90Microseconds is the 90th percentile of latency.
	//
	// +optional
	P90Microseconds int64 `json:"p90Microseconds,omitempty"`

	// p99Microseconds is the 99th percentile of latency. Absent: there were too few
	// requests.
	//
	// +optional
	P99Microseconds int64 `json:"p99Microseconds,omitempty"`

	// p999Microseconds is the 99.9th percentile of latency. Absent: there were too
	// few requests.
	//
	// +optional
	P999Microseconds int64 `json:"p999Microseconds,omitempty"`

	// maxMicroseconds is the longest latency.
	//
	// +optional
	MaxMicroseconds int64 `json:"maxMicroseconds,omitempty"`
}

// SuiteValue is the value of one metric in one run.
type SuiteValue struct {
	// value is 0 if it was not measured.
	//
	// +optional
	Value int64 `json:"value"`

	// atLeast is true if unanswered requests could have made it greater.
	//
	// +optional
	AtLeast bool `json:"atLeast,omitempty"`

	// errorPerMillion is the greatest relative error of the value, in parts per
	// million.
	//
	// +optional
	ErrorPerMillion int64 `json:"errorPerMillion,omitempty"`

	// reason is why the value cannot be compared.
	//
	// +optional
	Reason ComparisonReason `json:"reason,omitempty"`
}

// SuiteComparison compares one cell with that of the baseline.
type SuiteComparison struct {
	// cell is the candidate.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// baselineCell is the cell with which it is compared.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	BaselineCell string `json:"baselineCell"`

	// confirming is true if the cell looked worse, so that the rounds of
	// confirmRounds decide: the numbers are theirs.
	//
	// +optional
	Confirming bool `json:"confirming,omitempty"`

	Comparison `json:",inline"`
}
