package spec

import "strconv"

// Decimal is a number with digits after the point. It is a string, such as
// "0.99", because the API has no floating-point numbers.
type Decimal string

// DecimalOf writes a number with all of its digits.
func DecimalOf(v float64) Decimal { return Decimal(strconv.FormatFloat(v, 'f', -1, 64)) }

// Float64 returns the number, or 0 if the text is not a number.
func (d Decimal) Float64() float64 {
	v, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		return 0
	}
	return v
}

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
