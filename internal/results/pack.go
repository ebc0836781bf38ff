package results

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Pack makes the histogram smaller in memory: most counts take one byte instead of eight. No count is lost. A method that
// changes counts unpacks them first.
func (h *Histogram) Pack() {
	if h.counts == nil {
		return
	}
	var p Packer
	for bucket, n := range h.buckets() {
		p.Add(bucket, n)
	}
	h.counts = nil
	p.moveTo(h)
}

// Packer packs the counts of a histogram's buckets, in the order of the buckets. The zero value has none.
type Packer struct {
	packed      []byte
	first, next int
	total       uint64
}

// Add appends the count of a bucket. Buckets must come in ascending order; 0 is the zero bucket.
func (p *Packer) Add(bucket int, n uint64) {
	if n == 0 {
		return
	}
	if len(p.packed) == 0 {
		p.first, p.next = bucket, bucket
	}
	for ; p.next < bucket; p.next++ {
		p.packed = append(p.packed, 0)
	}
	p.packed, p.next = binary.AppendUvarint(p.packed, n), bucket+1
	if p.total += n; p.total < n {
		p.total = math.MaxUint64
	}
}

// Grow makes room for n more counts of one byte each.
func (p *Packer) Grow(n int) { p.packed = slices.Grow(p.packed, n) }

// Total is the sum of the counts so far, at most MaxUint64.
func (p *Packer) Total() uint64 { return p.total }

// Histogram returns a packed histogram with these counts instead of those of the parts. It refuses counts that do not add up.
func (p *Packer) Histogram(parts Parts) (Histogram, error) {
	parts.First, parts.Counts = 0, nil
	h, err := HistogramOf(parts)
	if err != nil {
		return Histogram{}, err
	}
	if p.total != h.count {
		return Histogram{}, fmt.Errorf("wanted buckets that add up to %d, found %d", h.count, p.total)
	}
	if p.next > BucketCount(h.Schema()) {
		return Histogram{}, fmt.Errorf("wanted buckets below %d, found one up to %d", BucketCount(h.Schema()), p.next)
	}
	p.moveTo(&h)
	return h, nil
}

func (p *Packer) moveTo(h *Histogram) {
	h.first = p.first
	if len(p.packed) > 0 {
		h.packed = slices.Clone(p.packed)
	}
}

// unpack makes the counts changeable.
func (h *Histogram) unpack() {
	if h.packed == nil {
		return
	}
	h.counts = []uint64{}
	for _, n := range unpacked(h.packed) {
		h.counts = append(h.counts, n)
	}
	h.packed = nil
}

// unpacked yields the counts in packed, with their places from 0 on.
func unpacked(packed []byte) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i, at := 0, 0; at < len(packed); i++ {
			n, size := uint64(packed[at]), 1
			if n >= 0x80 {
				n, size = binary.Uvarint(packed[at:])
			}
			if !yield(i, n) {
				return
			}
			at += size
		}
	}
}

// lengthOf is how many counts are packed.
func lengthOf(packed []byte) (n int) {
	for _, b := range packed {
		if b < 0x80 {
			n++
		}
	}
	return n
}

// Bytes is how much memory the counts take.
func (h *Histogram) Bytes() int { return 8*len(h.counts) + len(h.packed) }
