package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Limits of a schedule.
const (
	// MaxSessions bounds the sessions in status, MaxSeries the series.
	MaxSessions = 200
	MaxSeries   = 20
	// MaxChanges bounds the change points in status.
	MaxChanges = 40
)

// EtcdBenchmarkSchedule runs a suite again and again, at times like those of a
// CronJob. It keeps the history of its numbers, and says when they become worse.
// One run of the suite is a session.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ebsch,categories=etcdbench
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.active`,description="The suite that runs now"
// +kubebuilder:printcolumn:name="Last",type=date,JSONPath=`.status.lastScheduleTime`,description="Time since the last session started"
// +kubebuilder:printcolumn:name="Passed",type=string,JSONPath=`.status.lastPassed`,description="Whether the last session met its objectives and nothing regressed"
// +kubebuilder:printcolumn:name="Suspect",type=string,JSONPath=`.status.conditions[?(@.type=="Suspect")].status`,description="Whether the last session was worse than the ones before"
// +kubebuilder:printcolumn:name="Broken",type=string,JSONPath=`.status.conditions[?(@.type=="TrendBroken")].status`,description="Whether the numbers have become worse for good"
// +kubebuilder:printcolumn:name="Stalled",type=string,JSONPath=`.status.conditions[?(@.type=="Stalled")].reason`,description="Why no session can start, or why the last one could not run"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextScheduleTime`,priority=1,description="When the next session starts"
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.timeZone`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 30",message="metadata.name must have at most 30 characters, so that the names of its suites have room: shorten it"
type EtcdBenchmarkSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what runs, and when.
	//
	// +required
	Spec EtcdBenchmarkScheduleSpec `json:"spec"`

	// status is the history.
	//
	// +optional
	Status EtcdBenchmarkScheduleStatus `json:"status,omitzero"`
}

// EtcdBenchmarkScheduleList is a list of EtcdBenchmarkSchedules.
//
// +kubebuilder:object:root=true
type EtcdBenchmarkScheduleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EtcdBenchmarkSchedule `json:"items"`
}

// EtcdBenchmarkScheduleSpec says what runs, and when.
//
// +kubebuilder:validation:XValidation:rule="!has(self.metrics) || !has(self.suiteTemplate.spec.search)",message="does not fit a search, whose history is that of its rates: remove it",fieldPath=".metrics"
// +kubebuilder:validation:XValidation:rule="!has(self.metrics) || self.metrics.all(m, !has(m.statistic) || m.statistic != 'P95')",message="must be Mean, P50, P90, P99, P999 or Max: a suite does not keep the P95 of its runs",fieldPath=".metrics"
type EtcdBenchmarkScheduleSpec struct {
	// schedule says when sessions start, as for a CronJob, for example "0 3 * * *"
	// for 03:00 each day. The fields are minute, hour, day of month, month and day
	// of week.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	Schedule string `json:"schedule"`

	// timeZone is the name of a time zone, for example Europe/Berlin. Absent: UTC.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`

	// startingDeadlineSeconds is how late a session may start, for example after the
	// operator was away. Absent: however late.
	//
	// +optional
	// +kubebuilder:validation:Minimum=10
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// concurrencyPolicy is Forbid: a session does not start while the one before
	// goes on. Default Forbid.
	//
	// +optional
	// +kubebuilder:default=Forbid
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// suspend is true if no further session starts. The one that goes on continues.
	// Default false.
	//
	// +optional
	// +kubebuilder:default=false
	Suspend bool `json:"suspend"`

	// suiteTemplate is the suite of each session. With a change, comparisons begin
	// anew, because numbers of different suites cannot be compared.
	//
	// +required
	SuiteTemplate SuiteTemplateSpec `json:"suiteTemplate"`

	// metrics are the numbers of each cell whose history is kept: at most 20 series
	// of cell and metric, the first ones. tolerancePercent is the change that is
	// accepted. Absent: those of compare; without compare, Throughput. A search
	// keeps the history of its rates.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(m, m.type == 'Latency' && (!has(m.operation) || !has(m.statistic)) || self.exists_one(n, n.type == m.type && (m.type == 'Throughput' || has(n.operation) && has(m.operation) && n.operation == m.operation && has(n.statistic) && has(m.statistic) && n.statistic == m.statistic)))",message="has a metric twice: remove one"
	Metrics []Metric `json:"metrics,omitempty"`

	// historyLimit is how many suites of finished sessions are kept. The last one
	// that passed and the last one that did not are kept in any case. Default 10.
	//
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	HistoryLimit int32 `json:"historyLimit,omitempty"`

	// acknowledgements are changes that are known: sessions are compared only with
	// those from there on.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Acknowledgements []Acknowledgement `json:"acknowledgements,omitempty"`
}

// ConcurrencyPolicy says whether sessions may overlap.
//
// +kubebuilder:validation:Enum=Forbid
type ConcurrencyPolicy string

// SuiteTemplateSpec is the suite of each session.
type SuiteTemplateSpec struct {
	// spec is that of an EtcdBenchmarkSuite.
	//
	// +required
	Spec EtcdBenchmarkSuiteSpec `json:"spec"`
}

// Acknowledgement is a known change.
type Acknowledgement struct {
	// session is the name of the suite with which the change begins: see
	// status.changes.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Session string `json:"session"`

	// cell is the name of the cell whose numbers have changed. Absent: all cells.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell,omitempty"`

	// metric names the number that has changed, as in status.changes. Absent: all
	// numbers.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric,omitempty"`

	// reason is a note for people.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}
