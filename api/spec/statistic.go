package spec

// Statistic is one number of a distribution of latencies.
//
// +kubebuilder:validation:Enum=Mean;P50;P90;P95;P99;P999;Max;Stddev
type Statistic string

// The statistics of a distribution of latencies. Percentiles are nearest rank.
const (
	StatisticMean Statistic = "Mean"
	StatisticP50  Statistic = "P50"
	StatisticP90  Statistic = "P90"
	StatisticP95  Statistic = "P95"
	StatisticP99  Statistic = "P99"
	StatisticP999 Statistic = "P999"
	StatisticMax  Statistic = "Max"
	// StatisticStddev is the standard deviation.
	StatisticStddev Statistic = "Stddev"
)
