package load

import (
	"context"
	"sync"
	"time"
)

const (
	// sampleInterval lies between two looks at the members' memory. One costs
	// a member several milliseconds of its processor.
	sampleInterval = 5 * time.Second
	// sampleTimeout bounds one look at all members.
	sampleTimeout = 3 * time.Second
)

// sampler keeps the mean resident memory of each member over a window.
type sampler struct {
	driver Driver
	// closing and closed exist between begin and end.
	closing, closed chan struct{}

	mutex sync.Mutex
	sums  map[string]memorySum
}

type memorySum struct{ bytes, samples int64 }

// begin samples now and then in intervals.
func (s *sampler) begin(ctx context.Context) {
	s.closing, s.closed = make(chan struct{}), make(chan struct{})
	go s.run(context.WithoutCancel(ctx))
}

// last takes the last sample now, without waiting for it.
func (s *sampler) last() {
	if s.closing != nil {
		close(s.closing)
	}
}

// end waits for the last sample.
func (s *sampler) end() {
	if s.closed != nil {
		<-s.closed
	}
}

func (s *sampler) run(ctx context.Context) {
	defer close(s.closed)
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for {
		s.take(ctx)
		select {
		case <-ticker.C:
		case <-s.closing:
			s.take(ctx)
			return
		}
	}
}

func (s *sampler) take(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	s.add(s.driver.Sample(ctx))
}

func (s *sampler) add(sample map[string]int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.sums == nil {
		s.sums = map[string]memorySum{}
	}
	for member, bytes := range sample {
		sum := s.sums[member]
		s.sums[member] = memorySum{bytes: sum.bytes + bytes, samples: sum.samples + 1}
	}
}

// mean returns a member's mean resident memory in bytes, 0 if no sample could
// be had.
func (s *sampler) mean(member string) int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if sum := s.sums[member]; sum.samples > 0 {
		return sum.bytes / sum.samples
	}
	return 0
}
