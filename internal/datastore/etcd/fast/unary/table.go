package unary

import (
	"iter"
	"slices"
)

// table holds the open streams by their ids. Ids grow by two from stream to stream, and most streams are short. So a
// stream nearly always has its own place in a small ring: finding it costs an index, not a hash. If its place is taken
// by a stream that has been open for far longer, the stream is in a map.
type table struct {
	// ring has a power of two of places; stream id has place id/2, modulo that.
	ring   []*Stream
	others map[uint32]*Stream
	length int
}

// firstPlaces is the initial length of the ring.
const firstPlaces = 4

func (t *table) place(id uint32) **Stream { return &t.ring[int(id/2)&(len(t.ring)-1)] }

// at returns the open stream with this id, nil if there is none.
func (t *table) at(id uint32) *Stream {
	if len(t.ring) == 0 {
		return nil
	}
	if s := *t.place(id); s != nil && s.id == id {
		return s
	}
	// Reading a nil map is cheap.
	return t.others[id]
}

func (t *table) put(s *Stream) {
	if t.length >= len(t.ring)/2 {
		t.grow()
	}
	t.length++
	t.insert(s)
}

func (t *table) insert(s *Stream) {
	if p := t.place(s.id); *p == nil {
		*p = s
		return
	}
	if t.others == nil {
		t.others = map[uint32]*Stream{}
	}
	t.others[s.id] = s
}

// grow doubles the ring, so that it stays half empty.
func (t *table) grow() {
	all := slices.Collect(t.all())
	t.ring, t.others = make([]*Stream, max(2*len(t.ring), firstPlaces)), nil
	for _, s := range all {
		t.insert(s)
	}
}

func (t *table) remove(s *Stream) {
	t.length--
	if p := t.place(s.id); *p == s {
		*p = nil
		return
	}
	delete(t.others, s.id)
}

// all returns the streams in no order. The table must not change meanwhile.
func (t *table) all() iter.Seq[*Stream] {
	return func(yield func(*Stream) bool) {
		for _, s := range t.ring {
			if s != nil && !yield(s) {
				return
			}
		}
		for _, s := range t.others {
			if !yield(s) {
				return
			}
		}
	}
}
