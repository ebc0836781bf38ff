package arrival

import "math/bits"

// wide is an unsigned integer of 128 bits. Its arithmetic does not check for overflow: see the limits of Stages.
type wide struct{ hi, lo uint64 }

func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

func (w wide) times(x uint64) wide {
	hi, lo := bits.Mul64(w.lo, x)
	return wide{hi + w.hi*x, lo}
}

func (w wide) plus(x wide) wide {
	lo, carry := bits.Add64(w.lo, x.lo, 0)
	return wide{w.hi + x.hi + carry, lo}
}

func (w wide) minus(x wide) wide {
	lo, borrow := bits.Sub64(w.lo, x.lo, 0)
	return wide{w.hi - x.hi - borrow, lo}
}

func (w wide) isAbove(x wide) bool {
	return w.hi > x.hi || w.hi == x.hi && w.lo > x.lo
}

// shiftedRight returns w divided by 2^n, rounded down, for 0 < n < 64.
func (w wide) shiftedRight(n uint) wide {
	return wide{w.hi >> n, w.hi<<(64-n) | w.lo>>n}
}

// dividedBy returns w ÷ x rounded down, at most atMost. A division by zero returns atMost.
func (w wide) dividedBy(x, atMost uint64) uint64 {
	if w.hi >= x {
		return atMost
	}
	quotient, _ := bits.Div64(w.hi, w.lo, x)
	return min(quotient, atMost)
}
