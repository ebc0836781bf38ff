package v1alpha1

import (
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// MetricType is what a comparison compares.
//
// +kubebuilder:validation:Enum=Throughput;Latency
type MetricType string

const (
	// MetricThroughput is the rate of successful requests. Higher is better.
	MetricThroughput MetricType = "Throughput"
	// MetricLatency is a statistic of the latency of an operation. Lower is better.
	MetricLatency MetricType = "Latency"
)

// Default tolerances in percent.
const (
	DefaultThroughputTolerance = 5
	DefaultLatencyTolerance    = 10
	// MaxTolerance is the greatest tolerance in percent.
	MaxTolerance = 99
)

// ComparedStatistics are the statistics that can be compared.
var ComparedStatistics = []spec.Statistic{
	spec.StatisticMean, spec.StatisticP50, spec.StatisticP90, spec.StatisticP95, spec.StatisticP99, spec.StatisticP999, spec.StatisticMax,
}

// Metric is one number of each run that a comparison compares.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'Latency' ? has(self.operation) && has(self.statistic) : !has(self.operation) && !has(self.statistic)",message="operation and statistic are required for type Latency, and must be absent for type Throughput"
// +kubebuilder:validation:XValidation:rule="!has(self.statistic) || self.statistic != 'Stddev'",message="must be Mean, P50, P90, P95, P99, P999 or Max",fieldPath=".statistic"
type Metric struct {
	// type is Throughput or Latency.
	//
	// +required
	Type MetricType `json:"type"`

	// operation is the kind of request. Required for Latency.
	//
	// +optional
	Operation spec.Operation `json:"operation,omitempty"`

	// statistic is Mean, P50, P90, P95, P99, P999 (99.9 %) or Max. Required for
	// Latency.
	//
	// +optional
	Statistic spec.Statistic `json:"statistic,omitempty"`

	// tolerancePercent is the change for the worse that is accepted. Default 5 for
	// Throughput, 10 for Latency.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	TolerancePercent int32 `json:"tolerancePercent,omitempty"`
}

// String names the metric, for example "Put P99" or "Throughput".
func (m Metric) String() string {
	if m.Type == MetricThroughput {
		return string(m.Type)
	}
	return strings.TrimSpace(string(m.Operation) + " " + string(m.Statistic))
}

// WithTolerance returns the metric with its tolerance, also if that is the default.
func (m Metric) WithTolerance() Metric {
	switch {
	case m.TolerancePercent > 0:
	case m.Type == MetricThroughput:
		m.TolerancePercent = DefaultThroughputTolerance
	default:
		m.TolerancePercent = DefaultLatencyTolerance
	}
	return m
}

// Tolerance is the accepted change for the worse as a share: 0.1 for 10 %.
func (m Metric) Tolerance() float64 { return float64(m.WithTolerance().TolerancePercent) / 100 }

// ComparisonVerdict says whether the candidate is worse than the baseline.
//
// +kubebuilder:validation:Enum=Regressed;NotRegressed;Unknown
type ComparisonVerdict string

const (
	// Regressed means that the candidate is worse by more than the tolerance.
	Regressed ComparisonVerdict = "Regressed"
	// NotRegressed means that the candidate is not worse by more than the tolerance.
	NotRegressed ComparisonVerdict = "NotRegressed"
	// NotCompared means that the runs do not decide it.
	NotCompared ComparisonVerdict = "Unknown"
)

// ComparisonReason is why a verdict is Unknown.
//
// +kubebuilder:validation:Enum=TooFewRounds;Noisy;NotConcurrent;EnvironmentDiffers;ExclusionsDiffer;TailTooThin;NotInformative;NotMeasured;Unanswered;ClientBound
type ComparisonReason string

const (
	// ReasonTooFewRounds means that more rounds would decide.
	ReasonTooFewRounds ComparisonReason = "TooFewRounds"
	// ReasonNoisy means that the rounds differ so much, or the change is so close to the tolerance, that many more would
	// not decide.
	ReasonNoisy ComparisonReason = "Noisy"
	// ReasonNotConcurrent means that the two sides did not alternate, so that what changed over time looks like a
	// difference between them.
	ReasonNotConcurrent ComparisonReason = "NotConcurrent"
	// ReasonEnvironmentDiffers means that something makes the two sides incomparable: what the client pods ran on differs or
	// is not known, or the data of one side only lay in memory.
	ReasonEnvironmentDiffers ComparisonReason = "EnvironmentDiffers"
	// ReasonExclusionsDiffer means that more runs of one side are invalid than of the other.
	ReasonExclusionsDiffer ComparisonReason = "ExclusionsDiffer"
	// ReasonComparedTailTooThin means that a percentile has fewer than ten requests above it.
	ReasonComparedTailTooThin ComparisonReason = "TailTooThin"
	// ReasonNotInformative means that the number was set by the load: the throughput of a rate that was reached.
	ReasonNotInformative ComparisonReason = "NotInformative"
	// ReasonNotMeasured means that the runs do not have the number.
	ReasonNotMeasured ComparisonReason = "NotMeasured"
	// ReasonUnanswered means that requests failed, or were unanswered when a run ended, so a value is only a lower bound.
	ReasonUnanswered ComparisonReason = "Unanswered"
	// ReasonComparedClientBound means that the load generator may have hidden a change: it may have added too much of the
	// latency, or not alike on both sides, or how much is not known.
	ReasonComparedClientBound ComparisonReason = "ClientBound"
)

// Comparison is the result for one metric. Changes are relative to the
// baseline, in parts per million: 100000 means 10 % more.
type Comparison struct {
	// metric is what was compared.
	//
	// +required
	Metric Metric `json:"metric"`

	// rounds is how many rounds had a valid run of both sides.
	//
	// +optional
	Rounds int32 `json:"rounds"`

	// baseline is the geometric mean of the baseline's values: in microseconds, or
	// in 1000 × requests per second.
	//
	// +optional
	Baseline int64 `json:"baseline,omitempty"`

	// candidate is the geometric mean of the candidate's values, in the same unit.
	//
	// +optional
	Candidate int64 `json:"candidate,omitempty"`

	// changePerMillion is the change from baseline to candidate. Absent: there is
	// no round.
	//
	// +optional
	ChangePerMillion *int64 `json:"changePerMillion,omitempty"`

	// lowPerMillion is the lower end of the 95 % confidence interval of the change.
	// Absent with fewer than two rounds.
	//
	// +optional
	LowPerMillion *int64 `json:"lowPerMillion,omitempty"`

	// highPerMillion is the upper end of that interval.
	//
	// +optional
	HighPerMillion *int64 `json:"highPerMillion,omitempty"`

	// smallestRegressionPerMillion is the smallest change for the worse that these
	// rounds would call Regressed in 80 % of repetitions.
	//
	// +optional
	SmallestRegressionPerMillion *int64 `json:"smallestRegressionPerMillion,omitempty"`

	// signedRankPerMillion is a second opinion on whether anything has changed: the
	// p-value of the exact signed-rank test, in parts per million. It decides
	// nothing. Absent with fewer than six rounds.
	//
	// +optional
	SignedRankPerMillion *int64 `json:"signedRankPerMillion,omitempty"`

	// baselineDrifts is true if the baseline's values rose or fell over the rounds
	// (Mann-Kendall test, p ≤ 0.02). It decides nothing, because both sides of a
	// round drift alike.
	//
	// +optional
	BaselineDrifts bool `json:"baselineDrifts,omitempty"`

	// baselineAddedPerMillion is the greatest share of the mean latency that the load
	// generator can have added in a run of the baseline. Absent: none, or not known.
	//
	// +optional
	BaselineAddedPerMillion int64 `json:"baselineAddedPerMillion,omitempty"`

	// candidateAddedPerMillion is that of the candidate.
	//
	// +optional
	CandidateAddedPerMillion int64 `json:"candidateAddedPerMillion,omitempty"`

	// verdict is Regressed, NotRegressed or Unknown.
	//
	// +required
	Verdict ComparisonVerdict `json:"verdict"`

	// improved is true if the verdict is NotRegressed and the whole interval is
	// better than no change.
	//
	// +optional
	Improved bool `json:"improved,omitempty"`

	// reason is why the verdict is Unknown.
	//
	// +optional
	Reason ComparisonReason `json:"reason,omitempty"`

	// roundsNeeded is how many rounds would decide, if they were like the present
	// ones. Absent: over 50, or not computed.
	//
	// +optional
	RoundsNeeded int32 `json:"roundsNeeded,omitempty"`

	// message explains the verdict.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}
