package workload

import "math/bits"

// scatter is a bijection of the numbers below a count, without a table and without a pattern that matters: neighbours
// end up far apart. It mixes the bits that the count needs, in reversible steps, and repeats this until the result is
// below the count. That takes fewer than two rounds on average.
type scatter struct {
	count, mask uint64
	shift       int
	rounds      [3]round
}

// round has the constants of one round of mixing; the factor is odd.
type round struct{ summand, factor uint64 }

func newScatter(count, seed uint64) scatter {
	width := bits.Len64(count - 1)
	s := scatter{count: count, mask: 1<<width - 1, shift: max(1, width/2)}
	for i := range s.rounds {
		s.rounds[i] = round{hash(seed, scatterSalt, uint64(2*i)), hash(seed, scatterSalt, uint64(2*i+1)) | 1}
	}
	return s
}

// scatterSalt separates the constants of a scatter from the choices of operations and from the bytes of values.
const scatterSalt = 1 << 33

// of returns the image of a number.
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

// hash mixes the seed, a salt that separates independent choices, and n. It is the output function of splitmix64,
// applied to the n-th state of a generator that starts at the mixed seed. So any n can be computed without the ones
// before it.
func hash(seed, salt, n uint64) uint64 {
	return mix(mix(seed^mix(salt)) + n*golden)
}

// golden is 2^64 divided by the golden ratio, made odd: the step of splitmix64.
const golden = 0x9e3779b97f4a7c15

// mix is the finalizer of splitmix64: a bijection in which every input bit
// reaches every output bit.
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below scales a uniform 64-bit number to [0, n). The bias is n/2^64.
func below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}
