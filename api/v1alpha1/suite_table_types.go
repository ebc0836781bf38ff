package v1alpha1

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
// +kubebuilder:validation:XValidation:rule="!has(self.sum) || self.form == 'Performance'",message="needs table.form Performance",fieldPath=".sum"
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

	// sum adds a row with the added-up throughput of several cells, for example of
	// reads at each member alone. Absent: no such row.
	//
	// +optional
	Sum *SuiteSum `json:"sum,omitempty"`
}

// SuiteSum adds up the throughput of the cells that differ in one axis only.
type SuiteSum struct {
	// axis is the axis whose entries are added up.
	//
	// +required
	Axis Axis `json:"axis"`

	// entries are the names of the entries to add up. Absent: all of the axis.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=20
	Entries []EntryName `json:"entries,omitempty"`
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
