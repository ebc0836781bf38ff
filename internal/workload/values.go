package workload

import (
	"encoding/binary"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

const (
	// valueVariants is how many different values of one length there are. A value is a window into one block of bytes,
	// so making one needs no copy. The number is a prime, unrelated to round key counts. It is so large that two
	// overlapping values are rarely compressed together, in a page or a record of a file system.
	valueVariants = 4_194_301
	// grain is the length of a run of random bytes and of the run of zeros that follows it. It is short, so that small
	// values have both.
	grain = 128
)

// valueMaker makes values.
type valueMaker struct {
	seed    uint64
	block   []byte
	lengths lengths
	// pods makes values of content Pod; nil for the others, which lie in block.
	pods *podMaker
}

func newValueMaker(of spec.Values, seed uint64) valueMaker {
	if of.Content == spec.ContentPod {
		return valueMaker{seed: seed, lengths: newLengths(of), pods: newPodMaker(seed, int(of.SizeBytes))}
	}
	v := valueMaker{seed: seed, lengths: newLengths(of), block: randomBlock(seed, int(of.SizeBytes)+valueVariants)}
	zeros := grain * of.ZeroPercent() / 100
	for end := grain; zeros > 0 && end-zeros < len(v.block); end += grain {
		clear(v.block[end-zeros : min(end, len(v.block))])
	}
	return v
}

// Shared reports whether values lie in a block that all of them share. Others are made one by one.
func (v *valueMaker) Shared() bool { return v.pods == nil }

// Value returns the value with this number. Callers must not write to it, because it can be Shared.
func (v *valueMaker) Value(number int64) []byte {
	if v.pods != nil {
		return v.AppendValue(nil, number)
	}
	random, size := v.drawn(number)
	at := int(below(random, valueVariants))
	return v.block[at : at+size : at+size]
}

// AppendValue appends the value with this number.
func (v *valueMaker) AppendValue(dst []byte, number int64) []byte {
	if v.pods == nil {
		return append(dst, v.Value(number)...)
	}
	random, size := v.drawn(number)
	return v.pods.append(dst, number, random, size)
}

// drawn are the choice of a value and its length.
func (v *valueMaker) drawn(number int64) (random uint64, size int) {
	random = hash(v.seed, 0, uint64(number))
	return random, v.lengths.at(float64(mix(random)>>11) / (1 << 53))
}

// randomBlock returns n pseudo-random bytes that depend on the seed alone.
func randomBlock(seed uint64, n int) []byte {
	block := make([]byte, 0, n+8)
	for i := uint64(0); len(block) < n; i++ {
		block = binary.LittleEndian.AppendUint64(block, hash(seed, blockSalt, i))
	}
	return block[:n]
}

// blockSalt separates the bytes of values from the choices of operations, whose salts are small.
const blockSalt = 1 << 32
