package workload

import (
	"encoding/binary"
	"math/bits"
)

// valueVariants is how many different values a workload has. A value is a
// window into one random block, so making one costs no copy; a prime number of
// windows keeps them unrelated to round key counts.
const valueVariants = 4093

// hash mixes the seed, a salt that tells independent choices apart, and n. It
// is the output function of splitmix64, applied to the n-th state of a
// generator that starts at the mixed seed: any n can be had without the ones
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

// randomBlock returns n pseudo-random bytes that depend on the seed alone.
func randomBlock(seed uint64, n int) []byte {
	block := make([]byte, 0, n+8)
	for i := uint64(0); len(block) < n; i++ {
		block = binary.LittleEndian.AppendUint64(block, hash(seed, blockSalt, i))
	}
	return block[:n]
}

// blockSalt keeps the bytes of values apart from the choices of operations,
// whose salts are small.
const blockSalt = 1 << 32
