package unary

import "sync/atomic"

// queue is a ring buffer of waiting streams, first in, first out.
type queue struct {
	places        []*Stream
	first, length int
}

func (q *queue) at(i int) **Stream { return &q.places[(q.first+i)%len(q.places)] }

func (q *queue) put(s *Stream) {
	if q.length == len(q.places) {
		q.grow()
	}
	*q.at(q.length) = s
	q.length++
}

func (q *queue) grow() {
	places := make([]*Stream, max(2*len(q.places), firstPlaces))
	for i := range q.length {
		places[i] = *q.at(i)
	}
	q.places, q.first = places, 0
}

// take returns the stream that has waited longest. The queue must not be empty.
func (q *queue) take() *Stream {
	s := *q.at(0)
	*q.at(0) = nil
	q.first = (q.first + 1) % len(q.places)
	q.length--
	return s
}

// remove removes a stream.
func (q *queue) remove(s *Stream) {
	kept := 0
	for i := range q.length {
		if waiting := *q.at(i); waiting != s {
			*q.at(kept) = waiting
			kept++
		}
	}
	for i := kept; i < q.length; i++ {
		*q.at(i) = nil
	}
	q.length = kept
}

// Budget is a limit that several connections, of several goroutines, share. A nil Budget has no limit.
type Budget struct {
	most int64
	used atomic.Int64
}

// NewBudget returns a budget of this many bytes.
func NewBudget(bytes int) *Budget { return &Budget{most: int64(bytes)} }

func (b *Budget) take(n int64) bool {
	if b == nil {
		return true
	}
	if b.used.Add(n) > b.most {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *Budget) give(n int64) {
	if b != nil && n > 0 {
		b.used.Add(-n)
	}
}
