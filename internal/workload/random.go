package workload

import "math/bits"

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
