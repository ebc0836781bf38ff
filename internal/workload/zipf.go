package workload

import "math"

// zipf draws ranks from 1 to a count. The probability of rank r is proportional to r^-exponent, for any exponent above
// 0. The method is rejection-inversion (W. Hörmann, G. Derflinger: Rejection-inversion to generate variates from
// monotone discrete distributions, 1996): the area under the curve x^-exponent is inverted, and points above the steps
// of the ranks are drawn again. It needs no table of the ranks and about one try.
type zipf struct {
	exponent float64
	count    float64
	// from and to are the area at both ends: from half a rank before the second one, minus the whole first step, to
	// half a rank after the last.
	from, to float64
	// sure is how far right of a point its rank may lie for the point to be under the step for certain.
	sure float64
}

func newZipf(count int64, exponent float64) zipf {
	z := zipf{exponent: exponent, count: float64(count)}
	z.from = z.area(1.5) - 1
	z.to = z.area(z.count + 0.5)
	z.sure = 2 - z.pointAt(z.area(2.5)-z.height(2))
	return z
}

// rank returns a rank for 64 random bits.
func (z *zipf) rank(random uint64) int64 {
	for ; ; random = mix(random) {
		area := z.to + (z.from-z.to)*float64(random>>11)/(1<<53)
		point := z.pointAt(area)
		rank := min(max(math.Floor(point+0.5), 1), z.count)
		if rank-point <= z.sure || area >= z.area(rank+0.5)-z.height(rank) {
			return int64(rank)
		}
	}
}

// height is the curve, x^-exponent.
func (z *zipf) height(x float64) float64 { return math.Exp(-z.exponent * math.Log(x)) }

// area is the integral of the curve from 1 to x: (x^(1-exponent) - 1) ÷ (1 - exponent). The form used is exact around
// an exponent of 1 too, where it is the logarithm.
func (z *zipf) area(x float64) float64 {
	log := math.Log(x)
	power := (1 - z.exponent) * log
	if math.Abs(power) < 1e-8 {
		return log * (1 + power/2)
	}
	return log * math.Expm1(power) / power
}

// pointAt is the inverse of area.
func (z *zipf) pointAt(area float64) float64 {
	power := max(-1, area*(1-z.exponent))
	if math.Abs(power) < 1e-8 {
		return math.Exp(area * (1 - power/2))
	}
	return math.Exp(area * math.Log1p(power) / power)
}
