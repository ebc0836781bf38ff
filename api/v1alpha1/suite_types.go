package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Limits of a suite.
const (
	// MaxSuiteNameLength leaves room for the names of the runs.
	MaxSuiteNameLength = 40
	// MaxCells bounds the cells of a suite, MaxSuiteRuns its runs, so that the results have room in status.
	MaxCells     = 100
	MaxSuiteRuns = 500
)

// EtcdBenchmarkSuite runs a table of benchmarks, one after the other: each
// target with each workload and each load, as often as spec.rounds says. Each
// run is an EtcdBenchmark of its own.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ebs,categories=etcdbench
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.conditions[?(@.type=="Finished")].reason`,description="Checking, Running, or how the suite ended"
// +kubebuilder:printcolumn:name="Passed",type=string,JSONPath=`.status.conditions[?(@.type=="Passed")].status`,description="Whether no run missed an objective and no metric regressed"
// +kubebuilder:printcolumn:name="Runs",type=string,JSONPath=`.status.display.runs`,description="Runs that have ended, of all that are planned"
// +kubebuilder:printcolumn:name="Cells",type=integer,JSONPath=`.status.runs.cells`,description="Combinations of target, workload and load"
// +kubebuilder:printcolumn:name="Regressed",type=integer,JSONPath=`.status.runs.regressed`,description="Comparisons that are worse than the tolerance"
// +kubebuilder:printcolumn:name="ETA",type=string,JSONPath=`.status.estimatedEnd`,description="When the last run is expected to end"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Current",type=string,JSONPath=`.status.current`,priority=1,description="The EtcdBenchmark that runs now"
// +kubebuilder:printcolumn:name="Invalid",type=integer,JSONPath=`.status.runs.invalid`,priority=1,description="Runs with numbers that cannot be compared"
// +kubebuilder:printcolumn:name="Missed",type=integer,JSONPath=`.status.runs.missed`,priority=1,description="Runs that missed an objective"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name must have at most 40 characters, so that the names of its runs have room: shorten it"
type EtcdBenchmarkSuite struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what to run. Only stop can change later. To run another table,
	// create another suite.
	//
	// +kubebuilder:validation:XValidation:rule="self.targets.map(t, t.name) == oldSelf.targets.map(t, t.name) && self.workloads.map(w, w.name) == oldSelf.workloads.map(w, w.name) && has(self.loads) == has(oldSelf.loads) && (!has(self.loads) || self.loads.map(l, l.name) == oldSelf.loads.map(l, l.name) && self.loads == oldSelf.loads) && has(self.search) == has(oldSelf.search) && (!has(self.search) || self.search == oldSelf.search) && self.template == oldSelf.template && self.targets == oldSelf.targets && self.workloads == oldSelf.workloads && self.rounds == oldSelf.rounds && self.onRunFailed == oldSelf.onRunFailed && self.keepRuns == oldSelf.keepRuns && self.keepReports == oldSelf.keepReports && has(self.exclude) == has(oldSelf.exclude) && (!has(self.exclude) || self.exclude == oldSelf.exclude) && has(self.seed) == has(oldSelf.seed) && (!has(self.seed) || self.seed == oldSelf.seed) && has(self.table) == has(oldSelf.table) && (!has(self.table) || self.table == oldSelf.table) && has(self.compare) == has(oldSelf.compare) && (!has(self.compare) || self.compare == oldSelf.compare)",message="is immutable, except stop: create a new EtcdBenchmarkSuite"
	// +kubebuilder:validation:XValidation:rule="!oldSelf.stop || self.stop",message="can only change from false to true: create a new EtcdBenchmarkSuite to run again",fieldPath=".stop"
	// +required
	Spec EtcdBenchmarkSuiteSpec `json:"spec"`

	// status is the progress and the result of the suite.
	//
	// +optional
	// +kubebuilder:default={conditions:{{type:"Finished",status:"False",reason:"Pending",message:"The operator has not seen this suite yet.",lastTransitionTime:"1970-01-01T00:00:00Z"},{type:"Reconciling",status:"True",reason:"Pending",message:"The operator has not seen this suite yet.",lastTransitionTime:"1970-01-01T00:00:00Z"}}}
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
// +kubebuilder:validation:XValidation:rule="self.targets.size() * self.workloads.size() * (has(self.loads) ? self.loads.size() : 1) <= 100",message="targets × workloads × loads must be at most 100 cells: split the suite"
// +kubebuilder:validation:XValidation:rule="self.targets.size() * self.workloads.size() * (has(self.loads) ? self.loads.size() : 1) * (self.rounds + (has(self.compare) && has(self.compare.confirmRounds) ? self.compare.confirmRounds : 0)) <= 500",message="targets × workloads × loads × rounds, with compare.confirmRounds, must be at most 500 runs: lower rounds, or split the suite"
// +kubebuilder:validation:XValidation:rule="!has(self.compare) || has(self.compare.baseline.values) || self.rounds >= 3",message="must be at least 3 with compare: with fewer rounds there is no verdict",fieldPath=".rounds"
// +kubebuilder:validation:XValidation:rule="!has(self.exclude) || self.exclude.all(e, (!has(e.target) || self.targets.exists(t, t.name == e.target)) && (!has(e.workload) || self.workloads.exists(w, w.name == e.workload)) && (!has(e.load) || has(self.loads) && self.loads.exists(l, l.name == e.load)))",message="names a target, workload or load that the suite does not have: see the names in targets, workloads and loads",fieldPath=".exclude"
// +kubebuilder:validation:XValidation:rule="!has(self.compare) || !has(self.compare.axis) || !has(self.compare.baseline.entry) || (self.compare.axis == 'Targets' ? self.targets.exists(t, t.name == self.compare.baseline.entry) : self.compare.axis == 'Workloads' ? self.workloads.exists(w, w.name == self.compare.baseline.entry) : has(self.loads) && self.loads.exists(l, l.name == self.compare.baseline.entry))",message="must have the name of an entry of the axis in entry",fieldPath=".compare.baseline"
// +kubebuilder:validation:XValidation:rule="!has(self.compare) || !has(self.compare.axis) || (self.compare.axis == 'Targets' ? self.targets.size() : self.compare.axis == 'Workloads' ? self.workloads.size() : (has(self.loads) ? self.loads.size() : 1)) > 1",message="needs an axis with at least two entries: the baseline and a candidate",fieldPath=".compare"
// +kubebuilder:validation:XValidation:rule="!has(self.compare) || !has(self.compare.axis) || self.compare.axis != 'Loads' || !has(self.loads) || self.loads.all(l, l.load.transport == self.loads[0].load.transport)",message="cannot be Loads if their transports differ, because results of different transports are not comparable: set the same load.transport in all entries of loads",fieldPath=".compare.axis"
// +kubebuilder:validation:XValidation:rule="!has(self.table) || !has(self.table.sum) || !has(self.table.sum.entries) || self.table.sum.entries.all(e, self.table.sum.axis == 'Targets' ? self.targets.exists(t, t.name == e) : self.table.sum.axis == 'Workloads' ? self.workloads.exists(w, w.name == e) : has(self.loads) && self.loads.exists(l, l.name == e))",message="names an entry that the axis does not have: see its names",fieldPath=".table.sum.entries"
// +kubebuilder:validation:XValidation:rule="self.targets.all(t, !has(t.target.ephemeral) || !has(t.target.ephemeral.keepSeconds) || t.target.ephemeral.keepSeconds == 0)",message="cannot have ephemeral.keepSeconds: the next run of the suite would wait for it; remove it, and repeat one run on its own to look at its members",fieldPath=".targets"
// +kubebuilder:validation:XValidation:rule="has(self.loads) != has(self.search)",messageExpression="'set loads or search: found ' + (has(self.loads) ? 'both' : 'neither')"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || self.targets.size() * self.workloads.size() * self.search.maxProbes <= 500",message="targets × workloads × search.maxProbes must be at most 500 runs: lower search.maxProbes, or split the suite"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || self.rounds == 1 && !has(self.compare) && !has(self.table)",message="cannot be combined with rounds, compare or table: the search repeats its probes itself, and has its own table",fieldPath=".search"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || self.workloads.all(w, w.workload.type != 'Observe')",message="cannot search with workload.type Observe, which has no rate: set loads",fieldPath=".search"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || self.workloads.all(w, has(w.objectives) && w.objectives.exists(o, o.type == 'Latency' || o.type == 'AchievedRate'))",message="needs an objective that a higher rate misses in each entry of workloads, of type Latency or AchievedRate: the search looks for the highest rate that meets the objectives",fieldPath=".search"
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

	// loads are how many requests are sent, by how many clients, and how fast. Set
	// either loads or search.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Loads []SuiteLoad `json:"loads,omitempty"`

	// search looks for the highest rate that meets the objectives, for each target
	// with each workload. Set either search or loads.
	//
	// +optional
	Search *SuiteSearch `json:"search,omitempty"`

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

	// keepRuns says which EtcdBenchmarks stay after their result is in
	// status.results. When a run is deleted, its report is deleted, too.
	// - All: all of them.
	// - Failed: those that could not do their load, missed an objective, or have
	//   numbers that cannot be compared.
	// - None: none.
	//
	// A run whose keys could not be deleted always stays. Default All.
	//
	// +optional
	// +kubebuilder:default=All
	KeepRuns KeepRunsPolicy `json:"keepRuns,omitempty"`

	// keepReports says of which runs the operator writes the report, a ConfigMap
	// with the distribution of latencies and the course of the run.
	// - All: of all runs.
	// - Failed: of those that could not do their load, missed an objective, or have
	//   numbers that cannot be compared.
	// - None: of none.
	//
	// The result of the suite does not need them. Default Failed.
	//
	// +optional
	// +kubebuilder:default=Failed
	KeepReports KeepRunsPolicy `json:"keepReports,omitempty"`

	// stop ends the suite when it becomes true: the operator stops the
	// current run and starts no other. It cannot become false again. Default false.
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

// KeepRunsPolicy says of which runs something stays after their result is in the
// suite.
//
// +kubebuilder:validation:Enum=All;Failed;None
type KeepRunsPolicy string

// The policies for runs with a result.
const (
	// KeepRunsAll keeps all runs.
	KeepRunsAll KeepRunsPolicy = "All"
	// KeepRunsFailed keeps runs that could not do their load, missed an objective, or have numbers that cannot be compared.
	KeepRunsFailed KeepRunsPolicy = "Failed"
	// KeepRunsNone keeps no run.
	KeepRunsNone KeepRunsPolicy = "None"
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

	// disturbances replace those of template.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Disturbances []spec.Disturbance `json:"disturbances,omitempty"`
}

// IsJudged reports whether a run of the workload can miss something: an objective, or a check of a run that only observes.
func (w SuiteWorkload) IsJudged() bool {
	return len(w.Objectives) > 0 || w.Workload.OnlyObserves()
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
