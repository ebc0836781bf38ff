package workload

import "math/bits"

// scatter is a bijection of the numbers below a count onto themselves, without
// a table and without a pattern that matters: neighbours end up far apart. It
// mixes the bits that the count needs, in steps each of which can be undone, as
// often as it takes to come out below the count; that is less than twice on
// average.
type scatter struct {
	count, mask uint64
	shift       int
	rounds      [3]round
}

// round is what a round of mixing adds and multiplies by; the factor is odd.
type round struct{ summand, factor uint64 }

func newScatter(count, seed uint64) scatter {
	width := bits.Len64(count - 1)
	s := scatter{count: count, mask: 1<<width - 1, shift: max(1, width/2)}
	for i := range s.rounds {
		s.rounds[i] = round{hash(seed, scatterSalt, uint64(2*i)), hash(seed, scatterSalt, uint64(2*i+1)) | 1}
	}
	return s
}

// scatterSalt keeps the constants of a scatter apart from the choices of
// operations and from the bytes of values.
const scatterSalt = 1 << 33

// of returns where a number goes.
func (s *scatter) of(number uint64) int64 {
	for {
		for _, r := range s.rounds {
			number = (number + r.summand) * r.factor & s.mask
			number ^= number >> s.shift
		}
		if number < s.count {
			return int64(number)
		}
	}
}
