package workload

import (
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Keys writes the keys of a plan.
type Keys struct {
	prefix       string
	size, digits int
}

// KeysOf returns the keys of a plan.
func KeysOf(p plan.Plan) Keys {
	return Keys{prefix: p.Prefix, size: p.Workload.KeySize, digits: len(strconv.FormatInt(p.Workload.KeyCount-1, 10))}
}

// KeyBytes is the length of every key, with the run's prefix.
func (k *Keys) KeyBytes() int { return len(k.prefix) + k.size }

// AppendKey appends the key with this number: the run's prefix and keySize
// decimal digits, so that keys sort by their numbers. A number of more than
// keySize digits is written in full.
func (k *Keys) AppendKey(dst []byte, key int64) []byte {
	dst = append(dst, k.prefix...)
	for range k.size - k.digits {
		dst = append(dst, '0')
	}
	var digits [20]byte
	number := strconv.AppendInt(digits[:0], key, 10)
	for range k.digits - len(number) {
		dst = append(dst, '0')
	}
	return append(dst, number...)
}
