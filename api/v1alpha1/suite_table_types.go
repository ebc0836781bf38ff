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
// +kubebuilder:validation:XValidation:rule="!has(self.published) || self.form == 'Matrix'",message="needs table.form Matrix, whose cells have one number each",fieldPath=".published"
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

	// published are figures from elsewhere, for example from a benchmark's page. A
	// Matrix shows the change of each cell against its figure. They are never
	// judged, because other machines have measured them.
	//
	// +optional
	Published *PublishedFigures `json:"published,omitempty"`
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

// PublishedFigures are figures that others have measured.
type PublishedFigures struct {
	// source is where the figures are from, for example a URL. The table names it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Source string `json:"source"`

	// values are the figures of cells.
	//
	// +required
	// +listType=map
	// +listMapKey=cell
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Values []PublishedFigure `json:"values"`
}

// PublishedFigure is the figure of one cell.
type PublishedFigure struct {
	// cell is the name of a cell: the names of its target, workload and load, with
	// a slash between them, without axes that have only one entry.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// value is the figure in the unit of table.metric: requests per second, or
	// microseconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	Value int64 `json:"value"`
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

	// confirmRounds makes the rounds of all cells a screening: each cell that looks
	// worse, and its baseline, run this many fresh rounds, and only these decide. It
	// needs fewer runs than more rounds of all cells. Absent: spec.rounds decide.
	//
	// +optional
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=50
	ConfirmRounds int32 `json:"confirmRounds,omitempty"`
}
