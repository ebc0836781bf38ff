package trend

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// MinHistory is the smallest number of earlier values with which Judge gives a verdict.
	MinHistory = 8
	// FalseAlarms is how often Judge calls a value Suspect although nothing has changed, with normal noise and a tolerance
	// of 0. A larger tolerance makes false alarms less frequent.
	FalseAlarms = 0.005
)

// Direction is the direction in which a metric gets worse.
type Direction int

// The directions. 0 is not valid.
const (
	HigherIsWorse Direction = 1
	LowerIsWorse  Direction = -1
)

// Verdict says what a value is, compared with the earlier ones.
type Verdict string

// The verdicts about a value.
const (
	// Usual: the value is not worse than expected.
	Usual Verdict = "Usual"
	// Suspect: the value is worse than the prediction interval, and worse than the mean by more than the tolerance.
	Suspect Verdict = "Suspect"
	// Unknown: there are fewer than MinHistory earlier values, or the input is not valid.
	Unknown Verdict = "Unknown"
)

// Judgement compares the newest value with the earlier ones. Mean, Low and High are logarithms, and 0 if the verdict is
// Unknown.
type Judgement struct {
	Verdict Verdict
	// Better: the value is Usual, better than the interval, and better than the mean by more than the tolerance.
	Better bool
	// Mean is that of the earlier values.
	Mean float64
	// Low and High are the ends of the two-sided prediction interval. Without a change, 99 % of all values lie within it:
	// 1 − 2 × FalseAlarms.
	Low, High float64
}

// Judge compares the newest value with the earlier values of its segment; Segment says where it begins. The tolerance
// is relative: 0.05 is 5 %, of the value and not of its logarithm. An outlier among the earlier values widens the
// interval. So leave out a value that was Suspect and that a second session has refuted.
//
// The verdict is Unknown if there are fewer than MinHistory earlier values, if a value is not the logarithm of a
// positive float64, or if the direction is not valid. NaN and infinities are not such logarithms.
func Judge(earlier []float64, latest float64, worse Direction, tolerance float64) Judgement {
	isValid := areLogarithms(earlier) && isLogarithm(latest) && (worse == HigherIsWorse || worse == LowerIsWorse)
	if len(earlier) < MinHistory || !isValid {
		return Judgement{Verdict: Unknown}
	}
	n := float64(len(earlier))
	mean, deviation := stat.MeanStdDev(earlier, nil)
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1-FalseAlarms) * deviation * math.Sqrt(1+1/n)

	j := Judgement{Verdict: Usual, Mean: mean, Low: mean - half, High: mean + half}
	if difference := latest - mean; math.Abs(difference) > half && Exceeds(difference, tolerance) {
		if difference*float64(worse) > 0 {
			j.Verdict = Suspect
		} else {
			j.Better = true
		}
	}
	return j
}

// rounding is more than the error of a difference of logarithms, and less than the difference of two shares of values with
// eight digits.
const rounding = 1e-9

// Exceeds reports whether a difference of logarithms is a relative change by more than the tolerance. A change of exactly
// the tolerance is not: in logarithms, 1,050 is 5.000000000000016 % more than 1,000.
func Exceeds(difference, tolerance float64) bool {
	return math.Abs(relative(difference)) > max(tolerance, 0)+rounding
}

// relative is a difference of logarithms as a relative change: 0.1 is 10 % more.
func relative(difference float64) float64 { return math.Expm1(difference) }

// maxLogarithm is above the absolute logarithm of every positive float64.
const maxLogarithm = 746

func isLogarithm(v float64) bool { return math.Abs(v) < maxLogarithm }

func areLogarithms(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !isLogarithm(v) })
}
