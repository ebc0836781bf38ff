package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Limits of a suite.
const (
	// MaxSuiteNameLength leaves room for the names of the runs.
	MaxSuiteNameLength = 40
	// MaxCells bounds the cells of a suite, MaxSuiteRuns its runs.
	MaxCells     = 100
	MaxSuiteRuns = 1000
)

// EtcdBenchmarkSuite runs a table of benchmarks, one after the other: each
// target with each workload and each load, as often as spec.rounds says. Each
// run is an EtcdBenchmark of its own.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ebs,categories=etcdbench
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Finished")].reason`,description="Running, or how the suite ended"
// +kubebuilder:printcolumn:name="Passed",type=string,JSONPath=`.status.conditions[?(@.type=="Passed")].status`,description="Whether no run missed an objective and no metric regressed"
// +kubebuilder:printcolumn:name="Runs",type=integer,JSONPath=`.status.runs.finished`,description="Runs that have ended"
// +kubebuilder:printcolumn:name="Planned",type=integer,JSONPath=`.status.runs.planned`,description="Runs in all"
// +kubebuilder:printcolumn:name="Ends",type=date,JSONPath=`.status.estimatedEnd`,description="When the last run is expected to end"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name must have at most 40 characters, so that the names of its runs have room: shorten it"
type EtcdBenchmarkSuite struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what to run. Only stop can change later: a new table is a new
	// object.
	//
	// +kubebuilder:validation:XValidation:rule="self.template == oldSelf.template && self.targets == oldSelf.targets && self.workloads == oldSelf.workloads && self.loads == oldSelf.loads && self.rounds == oldSelf.rounds && self.onRunFailed == oldSelf.onRunFailed && has(self.exclude) == has(oldSelf.exclude) && (!has(self.exclude) || self.exclude == oldSelf.exclude) && has(self.seed) == has(oldSelf.seed) && (!has(self.seed) || self.seed == oldSelf.seed) && has(self.table) == has(oldSelf.table) && (!has(self.table) || self.table == oldSelf.table) && has(self.compare) == has(oldSelf.compare) && (!has(self.compare) || self.compare == oldSelf.compare)",message="is immutable, except stop: create a new EtcdBenchmarkSuite"
	// +kubebuilder:validation:XValidation:rule="!oldSelf.stop || self.stop",message="can only change from false to true: create a new EtcdBenchmarkSuite to run again",fieldPath=".stop"
	// +required
	Spec EtcdBenchmarkSuiteSpec `json:"spec"`

	// status is the progress and the result of the suite.
	//
	// +optional
	Status EtcdBenchmarkSuiteStatus `json:"status,omitzero"`
}

// EtcdBenchmarkSuiteList is a list of EtcdBenchmarkSuites.
//
// +kubebuilder:object:root=true
type EtcdBenchmarkSuiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EtcdBenchmarkSuite `json:"items"`
}

// EtcdBenchmarkSuiteSpec says which runs the suite has.
//
// +kubebuilder:validation:XValidation:rule="self.targets.size() * self.workloads.size() * self.loads.size() <= 100",message="targets × workloads × loads must be at most 100 cells: split the suite"
// +kubebuilder:validation:XValidation:rule="self.targets.size() * self.workloads.size() * self.loads.size() * self.rounds <= 1000",message="targets × workloads × loads × rounds must be at most 1000 runs: lower rounds, or split the suite"
// +kubebuilder:validation:XValidation:rule="!has(self.compare) || self.rounds >= 3",message="must be at least 3 with compare: with fewer rounds there is no verdict",fieldPath=".rounds"
// +kubebuilder:validation:XValidation:rule="!has(self.exclude) || self.exclude.all(e, (!has(e.target) || self.targets.exists(t, t.name == e.target)) && (!has(e.workload) || self.workloads.exists(w, w.name == e.workload)) && (!has(e.load) || self.loads.exists(l, l.name == e.load)))",message="names a target, workload or load that the suite does not have: see the names in targets, workloads and loads",fieldPath=".exclude"
// +kubebuilder:validation:XValidation:rule="!has(self.compare) || (self.compare.axis == 'Targets' ? self.targets.exists(t, t.name == self.compare.baseline) : self.compare.axis == 'Workloads' ? self.workloads.exists(w, w.name == self.compare.baseline) : self.loads.exists(l, l.name == self.compare.baseline))",message="must be the name of an entry of the axis",fieldPath=".compare.baseline"
// +kubebuilder:validation:XValidation:rule="!has(self.compare) || (self.compare.axis == 'Targets' ? self.targets.size() : self.compare.axis == 'Workloads' ? self.workloads.size() : self.loads.size()) > 1",message="needs an axis with at least two entries: the baseline and a candidate",fieldPath=".compare"
type EtcdBenchmarkSuiteSpec struct {
	// template has what all runs share. An entry of targets, workloads or loads
	// does not change it.
	//
	// +optional
	// +kubebuilder:default={}
	Template SuiteTemplate `json:"template"`

	// targets are the stores to load.
	//
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Targets []SuiteTarget `json:"targets"`

	// workloads are what one request does.
	//
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Workloads []SuiteWorkload `json:"workloads"`

	// loads are how many requests are sent, by how many clients, and how fast.
	//
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Loads []SuiteLoad `json:"loads"`

	// exclude leaves out cells. An entry excludes the cells that have all of its
	// names. Absent: none.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Exclude []SuiteExclusion `json:"exclude,omitempty"`

	// rounds is how often each cell runs. A round runs every cell once, in an order
	// that changes from round to round. A comparison needs at least 3; 5 or more
	// find smaller changes. Default 1.
	//
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	Rounds int32 `json:"rounds,omitempty"`

	// seed determines the order of the cells in each round. Absent: drawn, and
	// shown in status.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	Seed *int64 `json:"seed,omitempty"`

	// table says how the result is shown. Absent: one row per cell, with the
	// columns of etcd's performance page.
	//
	// +optional
	Table *SuiteTable `json:"table,omitempty"`

	// compare judges whether some cells are worse than others. Absent: no
	// comparison.
	//
	// +optional
	Compare *SuiteCompare `json:"compare,omitempty"`

	// onRunFailed is what happens after a run that could not do its load.
	// - Continue: the next run starts.
	// - Stop: the suite ends as RunFailed.
	//
	// Default Continue.
	//
	// +optional
	// +kubebuilder:default=Continue
	OnRunFailed RunFailedPolicy `json:"onRunFailed,omitempty"`

	// stop ends the suite when it becomes true: the present run is stopped, and no
	// other starts. It cannot become false again. Default false.
	//
	// +optional
	// +kubebuilder:default=false
	Stop bool `json:"stop"`
}

// RunFailedPolicy is what happens after a run that could not do its load.
//
// +kubebuilder:validation:Enum=Continue;Stop
type RunFailedPolicy string

// The policies after a failed run.
const (
	RunFailedContinue RunFailedPolicy = "Continue"
	RunFailedStop     RunFailedPolicy = "Stop"
)

// SuiteTemplate has the fields of an EtcdBenchmark that all runs share.
type SuiteTemplate struct {
	// disturbances are those of EtcdBenchmark.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Disturbances []spec.Disturbance `json:"disturbances,omitempty"`

	// guard is that of EtcdBenchmark.
	//
	// +optional
	Guard *spec.Guard `json:"guard,omitempty"`

	// pod is that of EtcdBenchmark.
	//
	// +optional
	Pod *PodSettings `json:"pod,omitempty"`

	// onPodLost is that of EtcdBenchmark.
	//
	// +optional
	OnPodLost PodLossPolicy `json:"onPodLost,omitempty"`

	// schedulingTimeoutSeconds is that of EtcdBenchmark.
	//
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	SchedulingTimeoutSeconds int32 `json:"schedulingTimeoutSeconds,omitempty"`

	// timeoutSeconds is that of EtcdBenchmark.
	//
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
}

// EntryName is the name of an entry of an axis.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and hyphens, and begin and end with a letter or digit"
type EntryName string

// SuiteTarget is an entry of targets.
type SuiteTarget struct {
	// name of the entry.
	//
	// +required
	Name EntryName `json:"name"`

	// target is that of EtcdBenchmark.
	//
	// +required
	Target Target `json:"target"`
}

// SuiteWorkload is an entry of workloads.
type SuiteWorkload struct {
	// name of the entry.
	//
	// +required
	Name EntryName `json:"name"`

	// workload is that of EtcdBenchmark.
	//
	// +required
	Workload spec.Workload `json:"workload"`

	// objectives are those of EtcdBenchmark.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Objectives []Objective `json:"objectives,omitempty"`
}

// SuiteLoad is an entry of loads.
type SuiteLoad struct {
	// name of the entry.
	//
	// +required
	Name EntryName `json:"name"`

	// load is that of EtcdBenchmark.
	//
	// +required
	Load spec.Load `json:"load"`
}

// SuiteExclusion leaves out the cells that have all of its names.
//
// +kubebuilder:validation:MinProperties=1
type SuiteExclusion struct {
	// target is the name of an entry of targets.
	//
	// +optional
	Target EntryName `json:"target,omitempty"`

	// workload is the name of an entry of workloads.
	//
	// +optional
	Workload EntryName `json:"workload,omitempty"`

	// load is the name of an entry of loads.
	//
	// +optional
	Load EntryName `json:"load,omitempty"`
}

// Axis is a dimension of a suite.
//
// +kubebuilder:validation:Enum=Targets;Workloads;Loads
type Axis string

// The axes of a suite.
const (
	AxisTargets   Axis = "Targets"
	AxisWorkloads Axis = "Workloads"
	AxisLoads     Axis = "Loads"
)

// SuiteTable says how the result of a suite is shown.
//
// +kubebuilder:validation:XValidation:rule="!has(self.metric) || !has(self.metric.statistic) || self.metric.statistic in ['Mean', 'P50', 'P90', 'P99']",message="must be Mean, P50, P90 or P99: a suite keeps no other statistics",fieldPath=".metric.statistic"
type SuiteTable struct {
	// form is the columns of the table.
	// - Performance: one row per cell, with the columns of etcd's performance page.
	// - Matrix: the axis of columns beside each other, one number per cell.
	//
	// Default Performance.
	//
	// +optional
	// +kubebuilder:default=Performance
	Form TableForm `json:"form,omitempty"`

	// columns is the axis whose entries are the columns of a Matrix. Default
	// Targets.
	//
	// +optional
	// +kubebuilder:default=Targets
	Columns Axis `json:"columns,omitempty"`

	// metric is the number of each cell of a Matrix. Default Throughput.
	//
	// +optional
	Metric *Metric `json:"metric,omitempty"`
}

// TableForm is the kind of a table.
//
// +kubebuilder:validation:Enum=Performance;Matrix
type TableForm string

// The forms of a table.
const (
	TablePerformance TableForm = "Performance"
	TableMatrix      TableForm = "Matrix"
)

// SuiteCompare judges whether cells are worse than the cells of a baseline.
type SuiteCompare struct {
	// axis is the axis with baseline and candidates. Cells that are compared
	// differ in this axis only.
	//
	// +required
	Axis Axis `json:"axis"`

	// baseline is the name of the entry with which all others are compared.
	//
	// +required
	Baseline EntryName `json:"baseline"`

	// metrics are what is compared in each cell.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.type == 'Latency' && (!has(m.operation) || !has(m.statistic)) || self.exists_one(n, n.type == m.type && (m.type == 'Throughput' || has(n.operation) && has(m.operation) && n.operation == m.operation && has(n.statistic) && has(m.statistic) && n.statistic == m.statistic)))",message="has a metric twice: remove one"
	Metrics []Metric `json:"metrics"`
}
