package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// EtcdBenchmarkScheduleStatus is the history of a schedule.
type EtcdBenchmarkScheduleStatus struct {
	// observedGeneration is the generation of the spec that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the schedule:
	// - Suspect: whether a number of the last session was worse than those before.
	//   One more session then starts at once, to confirm it. Unknown: the history is
	//   too short, or the last session has no numbers.
	// - TrendBroken: whether numbers are worse for good: two sessions in a row were
	//   worse and no later one was as before, or the history has a change for the
	//   worse. Unknown: the history is too short.
	// - Stalled: present if no session can start, or if runs of the last one could
	//   not do their load.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// active is the name of the EtcdBenchmarkSuite that runs now.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Active string `json:"active,omitempty"`

	// activeTemplate identifies its template.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=16
	ActiveTemplate string `json:"activeTemplate,omitempty"`

	// observedSchedule has schedule, timeZone and suspend as the operator saw them
	// last.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=200
	ObservedSchedule string `json:"observedSchedule,omitempty"`

	// scheduledFrom is when these last changed, or when starts were last skipped. No
	// start before it is made up for.
	//
	// +optional
	ScheduledFrom *metav1.Time `json:"scheduledFrom,omitempty"`

	// lastScheduleTime is when the last session was due.
	//
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// nextScheduleTime is when the next session is due. Absent: never, or the
	// schedule is suspended.
	//
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// lastSuccessfulTime is when the last session ended whose runs all did their
	// load, and which passed or had nothing to judge.
	//
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// lastPassed is the condition Passed of the last session. Absent: it had nothing
	// to judge.
	//
	// +optional
	LastPassed metav1.ConditionStatus `json:"lastPassed,omitempty"`

	// sessions are those that have ended, oldest first; at most 200.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=200
	Sessions []ScheduleSession `json:"sessions,omitempty"`

	// series are the numbers of the sessions.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Series []ScheduleSeries `json:"series,omitempty"`

	// changes are the changes of series that are too great for chance, since the last
	// acknowledged one.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=40
	Changes []ScheduleChange `json:"changes,omitempty"`
}

// ScheduleSession is a suite that has ended.
type ScheduleSession struct {
	// name of the EtcdBenchmarkSuite.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// startTime is when it was created.
	//
	// +required
	StartTime metav1.Time `json:"startTime"`

	// completionTime is when it ended.
	//
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// reason is how it ended: the reason of its condition Finished; or
	// - Deleted: somebody deleted it before it ended.
	// - Refused: the API server refused to create it.
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`

	// passed is its condition Passed. Absent: it had nothing to judge.
	//
	// +optional
	Passed metav1.ConditionStatus `json:"passed,omitempty"`

	// failedRuns is how many runs could not do their load.
	//
	// +optional
	FailedRuns int32 `json:"failedRuns,omitempty"`

	// invalid is why it has no number of some cell. Absent: it has all.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Invalid string `json:"invalid,omitempty"`

	// confirming is true if it started at once, because the one before was worse
	// than usual.
	//
	// +optional
	Confirming bool `json:"confirming,omitempty"`

	// template identifies the suite template. Sessions with different values are not
	// compared.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Template string `json:"template,omitempty"`

	// Sessions of different environments are not compared.
	Environment `json:",inline"`
}

// ScheduleSeries is the history of one number.
type ScheduleSeries struct {
	// cell is the name of the cell.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// type is Throughput or Latency; HighestRate for a search.
	//
	// +required
	Type SeriesType `json:"type"`

	// operation is the kind of request. Absent for types without one.
	//
	// +optional
	Operation spec.Operation `json:"operation,omitempty"`

	// statistic is the statistic of a latency.
	//
	// +optional
	Statistic spec.Statistic `json:"statistic,omitempty"`

	// tolerancePercent is the change that is accepted.
	//
	// +optional
	TolerancePercent int32 `json:"tolerancePercent,omitempty"`

	// values has a number for each of status.sessions: the geometric mean of its
	// rounds, in microseconds, or in 1000 × requests per second; 0 if there is none.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	Values []int64 `json:"values,omitempty"`

	// expected is the range in which the last value was expected, from those before.
	// Absent: there are fewer than eight.
	//
	// +optional
	Expected *ValueRange `json:"expected,omitempty"`

	// verdict says whether the last value is as expected.
	//
	// +optional
	Verdict SeriesVerdict `json:"verdict,omitempty"`
}

// SeriesType is the kind of number of a series.
//
// +kubebuilder:validation:Enum=Throughput;Latency;HighestRate
type SeriesType string

// The kinds of series.
const (
	SeriesThroughput  SeriesType = "Throughput"
	SeriesLatency     SeriesType = "Latency"
	SeriesHighestRate SeriesType = "HighestRate"
)

// SeriesVerdict compares the last value of a series with those before.
//
// +kubebuilder:validation:Enum=AsExpected;Worse;StillWorse;Better;Unknown
type SeriesVerdict string

// The verdicts of a series.
const (
	// SeriesAsExpected: it is in the expected range, or within the tolerance.
	SeriesAsExpected SeriesVerdict = "AsExpected"
	// SeriesWorse: it is worse, and the one before was not.
	SeriesWorse SeriesVerdict = "Worse"
	// SeriesStillWorse: it and the one before are worse.
	SeriesStillWorse SeriesVerdict = "StillWorse"
	SeriesBetter     SeriesVerdict = "Better"
	// SeriesUnknown: the last session has no value, or the history is too short.
	SeriesUnknown SeriesVerdict = "Unknown"
)

// ValueRange is a range of values in the unit of its series.
type ValueRange struct {
	// mean is the geometric mean of the values before.
	//
	// +required
	Mean int64 `json:"mean"`

	// low is the lower end.
	//
	// +required
	Low int64 `json:"low"`

	// high is the upper end.
	//
	// +required
	High int64 `json:"high"`
}

// ScheduleChange is a point in the history of a series from which on its values are
// different.
type ScheduleChange struct {
	// cell is the name of the cell.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Cell string `json:"cell"`

	// metric names the number, for example "Put P99" or "Throughput".
	//
	// +required
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric"`

	// session is the name of the first one with the new values.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	Session string `json:"session"`

	// before and after are the medians of the values on both sides.
	//
	// +required
	Before int64 `json:"before"`

	// after: see before.
	//
	// +required
	After int64 `json:"after"`

	// changePerMillion is the change from before to after, in parts per million.
	//
	// +required
	ChangePerMillion int64 `json:"changePerMillion"`

	// worse is true if the new values are worse.
	//
	// +optional
	Worse bool `json:"worse,omitempty"`

	// open is true while the values are still worse than before the change, and no
	// acknowledgement names its session or a later one. An open change stays here
	// when the history no longer has the sessions before it.
	//
	// +optional
	Open bool `json:"open,omitempty"`

	// startTime is when that session started.
	//
	// +optional
	StartTime metav1.Time `json:"startTime,omitzero"`

	// template is that of that session.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Template string `json:"template,omitempty"`

	// Environment is that of that session.
	Environment `json:",inline"`
}
