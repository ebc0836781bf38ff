package results

import (
	"encoding/binary"
	"iter"
	"slices"
)

// Pack makes the histogram smaller in memory: most counts take one byte instead of eight. Nothing is lost, and everything
// else stays possible; a change unpacks it again.
func (h *Histogram) Pack() {
	if h.trim(); h.counts == nil {
		return
	}
	packed := make([]byte, 0, 2*len(h.counts))
	for _, n := range h.counts {
		packed = binary.AppendUvarint(packed, n)
	}
	h.counts, h.packed = nil, slices.Clip(slices.Clone(packed))
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
		for i := 0; len(packed) > 0; i++ {
			n, size := uint64(packed[0]), 1
			if n >= 0x80 {
				n, size = binary.Uvarint(packed)
			}
			if !yield(i, n) {
				return
			}
			packed = packed[size:]
		}
	}
}

// Pack makes the histograms smaller in memory; see Histogram.Pack.
func (s *Snapshot) Pack() {
	for _, result := range s.Operations {
		for _, h := range result.Histograms() {
			h.Pack()
		}
	}
}
