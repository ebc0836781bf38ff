package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const (
	// errorRate is the largest probability of a wrong Regressed, and of a wrong NotRegressed, however often somebody adds
	// rounds and looks again.
	errorRate = 0.025
	// power is the quantile with which the smallest regression is found in about 80 %. It is greater, because the deviation
	// is an estimate.
	power = 0.85
	// minRounds is the smallest number of rounds with a verdict, usualRounds is that of a suite by default.
	minRounds   = 3
	usualRounds = 5
	// maxNeeded bounds the search for the number of rounds that would decide.
	maxNeeded = 50
)

// pair has the values of one round; both are above 0.
type pair struct{ baseline, candidate float64 }

// change is the mean of the log ratios of candidate to baseline over rounds. In logarithms, +25 % and -20 % are the same
// distance, and a round in which both sides were slower changes nothing.
type change struct {
	rounds int
	mean   float64
	// deviation is the standard deviation of one round's log ratio; 0 with one round.
	deviation float64
	// ratios are the log ratios, values the baseline's values, in the order of the rounds.
	ratios, values []float64
	// resolution is how far the mean can be wrong because of buckets and rounding, which more rounds do not improve.
	resolution float64
	// between is set if the two sides were measured in different sessions. Then it has the error of the mean.
	between *between
}

// between is the error of the difference of two sessions, and from how many sessions it is known.
type between struct {
	sessions int
	err      float64
}

func changeOf(pairs []pair) change {
	c := change{rounds: len(pairs)}
	for _, p := range pairs {
		c.ratios, c.values = append(c.ratios, math.Log(p.candidate/p.baseline)), append(c.values, p.baseline)
	}
	switch len(c.ratios) {
	case 0:
	case 1:
		c.mean = c.ratios[0]
	default:
		c.mean, c.deviation = stat.MeanStdDev(c.ratios, nil)
	}
	// Equal ratios have no deviation, and their mean is none of the numbers beside it.
	if len(c.ratios) > 1 && slices.Min(c.ratios) == slices.Max(c.ratios) {
		c.mean, c.deviation = c.ratios[0], 0
	}
	return c
}

// standardError of the mean.
func (c change) standardError() float64 {
	if c.between != nil {
		return c.between.err
	}
	return c.deviation / math.Sqrt(float64(c.rounds))
}

// observations is from how many values the standard error is known.
func (c change) observations() int {
	if c.between != nil {
		return c.between.sessions
	}
	return c.rounds
}

// level is the part of errorRate that is spent on this number of rounds. A comparison does not know whether somebody has
// looked at it before, with fewer rounds. So the parts of all numbers of rounds, from minRounds on without an end, add up to
// errorRate at most: however the looks depend on each other, and however many comparisons share the error. They favour
// usualRounds.
func (c change) level() float64 {
	if c.between != nil {
		return errorRate
	}
	return levelOf(c.rounds)
}

func levelOf(rounds int) float64 {
	// allRounds is just above the sum of all shares: 1 for 3, 4 and 5 rounds each, and the cubes of 5 ÷ n for more.
	const allRounds = 5.06
	share := min(1, usualRounds/float64(rounds))
	return errorRate / allRounds * share * share * share
}

// interval is the confidence interval of the mean: the true change lies within it in 95 % of cases, however often somebody
// adds rounds and looks again. It needs two rounds, or sessions.
func (c change) interval() (low, high float64) {
	half := quantile(c.observations(), 1-c.level())*c.standardError() + c.resolution
	return c.mean - half, c.mean + half
}

// student is Student's t distribution for the mean of this many rounds.
func student(rounds int) distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(rounds - 1)}
}

func quantile(rounds int, p float64) float64 { return student(rounds).Quantile(p) }

// side is the direction in which a metric gets worse.
type side float64

const (
	higherIsWorse side = 1
	lowerIsWorse  side = -1
)

// limit is the log ratio, in the direction of worse, above which a change exceeds a tolerance. The tolerance is a number of
// hundredths. Its quotient is rounded like that of two values, so that a change of exactly the tolerance does not exceed it.
func (s side) limit(tolerance float64) float64 {
	return float64(s) * math.Log((100+float64(s)*math.Round(100*tolerance))/100)
}

// chanceOfNoRegression is the probability of a mean that is at least as bad if the true change is the limit (the p-value of a
// one-sided t test), times errorRate ÷ level: the caller compares it with errorRate. It needs two rounds.
func (c change) chanceOfNoRegression(s side, limit float64) float64 {
	excess := float64(s)*c.mean - c.resolution - limit
	if c.standardError() == 0 {
		if excess > 0 {
			return 0
		}
		return 1
	}
	return min(1, student(c.observations()).Survival(excess/c.standardError())*errorRate/c.level())
}

// worst is the end of the interval in the direction of worse.
func (c change) worst(s side) float64 {
	return float64(s)*c.mean + c.resolution + quantile(c.observations(), 1-c.level())*c.standardError()
}

// isWithin reports whether no part of the interval is worse than the limit.
func (c change) isWithin(s side, limit float64) bool { return c.worst(s) <= limit }

// smallestRegression is the log ratio, in the direction of worse, that would be called a regression in about 80 %: with three
// rounds a little less. The first of several comparisons is judged with level ÷ their
// number.
func (c change) smallestRegression(limit float64, comparisons int) float64 {
	return limit + c.resolution + (quantile(c.observations(), 1-c.level()/float64(comparisons))+quantile(c.observations(), power))*c.standardError()
}

// SmallestRegression is the change for the worse, as a share of the baseline, that so many comparisons of so many rounds would
// call a regression in about 80 % of cases. deviation is the standard deviation of a round's log ratio. It needs minRounds.
func SmallestRegression(m v1alpha1.Metric, rounds, comparisons int, deviation float64) (share float64, known bool) {
	if rounds < minRounds {
		return 0, false
	}
	c, s := change{rounds: rounds, deviation: deviation}, sideOfMetric(m)
	return math.Abs(math.Expm1(float64(s) * c.smallestRegression(s.limit(m.Tolerance()), comparisons))), true
}

// HowOften says in how many cases a comparison of so many rounds finds its smallest regression.
func HowOften(rounds int32) string {
	if rounds == minRounds {
		return "three of four"
	}
	return "four of five"
}

// Ratio is the mean change from baseline to candidate over rounds with both values, which are above 0, and its interval. All are
// in parts per million; the interval needs two rounds, else it is nil.
func Ratio(baseline, candidate []float64) (mean, low, high *int64) {
	var pairs []pair
	for i := range baseline {
		pairs = append(pairs, pair{baseline[i], candidate[i]})
	}
	c := changeOf(pairs)
	if c.rounds > 1 {
		least, most := c.interval()
		low, high = perMillion(least), perMillion(most)
	}
	return perMillion(c.mean), low, high
}

// needed is how many rounds would decide with this mean and this deviation; 0 if more than maxNeeded.
func (c change) needed(s side, limit float64, comparisons int) int {
	distance := limit - float64(s)*c.mean
	if math.Abs(distance) <= c.resolution {
		return 0
	}
	share := 1.0
	if distance < 0 {
		share = 1 / float64(comparisons)
	}
	for rounds := max(c.rounds+1, minRounds); rounds <= maxNeeded; rounds++ {
		if quantile(rounds, 1-share*levelOf(rounds))*c.deviation/math.Sqrt(float64(rounds)) < math.Abs(distance)-c.resolution {
			return rounds
		}
	}
	return 0
}
