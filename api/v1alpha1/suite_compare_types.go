package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SuiteCompare judges whether cells are worse than the cells of a baseline.
//
// +kubebuilder:validation:XValidation:rule="has(self.axis) == has(self.baseline.entry)",message="is required with baseline.entry, and must be absent with baseline.suite and baseline.values",fieldPath=".axis"
// +kubebuilder:validation:XValidation:rule="!has(self.confirmRounds) || has(self.baseline.entry)",message="needs baseline.entry: fresh rounds of one side alone decide nothing",fieldPath=".confirmRounds"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline.values) || self.metrics.size() == 1 && self.metrics.all(m, !has(m.statistic) || m.statistic != 'P95')",message="must be the one metric of baseline.values, and no P95, which a suite does not keep",fieldPath=".metrics"
type SuiteCompare struct {
	// axis is the axis with baseline and candidates. Cells that are compared
	// differ in this axis only. Required with baseline.entry; absent otherwise.
	//
	// +optional
	Axis Axis `json:"axis,omitempty"`

	// baseline is what cells are compared with.
	//
	// +required
	Baseline SuiteBaseline `json:"baseline"`

	// metrics are what is compared in each cell. With baseline.values, it is the
	// one metric of the figures.
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

// SuiteBaseline is what the cells of a suite are compared with. Set one of its
// fields.
//
// +kubebuilder:validation:XValidation:rule="[has(self.entry), has(self.suite), has(self.values)].filter(f, f).size() == 1",message="set exactly one of entry, suite and values"
type SuiteBaseline struct {
	// entry is the name of the entry of the axis with which all others are compared,
	// in the same rounds. Only such a comparison finds small changes.
	//
	// +optional
	Entry EntryName `json:"entry,omitempty"`

	// suite is a finished suite, whose cells of the same names are the baseline.
	//
	// +optional
	Suite *BaselineSuite `json:"suite,omitempty"`

	// values are figures from elsewhere, for example from a benchmark's page. The
	// table shows the change of each cell against its figure. They are never judged,
	// because other machines have measured them.
	//
	// +optional
	Values *PublishedFigures `json:"values,omitempty"`
}

// BaselineSuite is a finished suite of the same namespace. It was measured in
// another session, so whatever changed since then looks like a difference. There
// is a verdict only if the history of a schedule says how much equal sessions
// differ: that of the schedule that created this suite, else of the one that
// created the suite with the comparison. It needs at least five other sessions.
// Otherwise the changes are shown, and the verdicts are Unknown (NotConcurrent).
type BaselineSuite struct {
	// name of the EtcdBenchmarkSuite. It must have finished. Its cells must do the
	// same as those that are compared with them. The operator reads it once, before
	// the first run: see status.baseline.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}

// PublishedFigures are figures that others have measured.
type PublishedFigures struct {
	// source is where the figures are from, for example a URL. The table names it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Source string `json:"source"`

	// figures are those of cells.
	//
	// +required
	// +listType=map
	// +listMapKey=cell
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	Figures []PublishedFigure `json:"figures"`
}

// PublishedFigure is the figure of one cell.
type PublishedFigure struct {
	// cell is the name of a cell: the names of its target, workload and load, with
	// a slash between them, without axes that have only one entry.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// value is the figure in the unit of the metric: requests per second, or
	// microseconds.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	Value int64 `json:"value"`
}

// StoredBaseline is what a suite keeps of the suite that is its baseline.
type StoredBaseline struct {
	// suite is the name of that suite.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Suite string `json:"suite"`

	// completionTime is when it finished.
	//
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// schedule is the one whose history says how much equal sessions differ. Absent:
	// there is none.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Schedule string `json:"schedule,omitempty"`

	// historyRounds is how many rounds each session of that history has.
	//
	// +optional
	HistoryRounds int32 `json:"historyRounds,omitempty"`

	// cells are the numbers of its cells.
	//
	// +optional
	// +listType=map
	// +listMapKey=cell
	// +kubebuilder:validation:MaxItems=100
	Cells []StoredCell `json:"cells,omitempty"`
}

// StoredCell has the numbers of one cell of a baseline.
type StoredCell struct {
	// cell is its name.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	Environment `json:",inline"`

	// invalid is how many of its runs have numbers that cannot be compared.
	//
	// +optional
	Invalid int32 `json:"invalid,omitempty"`

	// values are those of spec.compare.metrics, in their order.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Values []StoredValue `json:"values,omitempty"`
}

// StoredValue is the value of one metric in one cell of a baseline: the
// geometric mean of its rounds.
type StoredValue struct {
	SuiteValue `json:",inline"`

	// rounds is how many rounds have a valid value.
	//
	// +optional
	Rounds int32 `json:"rounds,omitempty"`

	// deviationPerMillion is the standard deviation of the rounds' logarithms, in
	// parts per million.
	//
	// +optional
	DeviationPerMillion int64 `json:"deviationPerMillion,omitempty"`

	// sessions is how many other sessions the history has. Absent: none.
	//
	// +optional
	Sessions int32 `json:"sessions,omitempty"`

	// spreadPerMillion is the standard deviation of the logarithms of their values,
	// in parts per million.
	//
	// +optional
	SpreadPerMillion int64 `json:"spreadPerMillion,omitempty"`
}
