package load

import (
	"context"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// sampleTimeout bounds one look at all members.
const sampleTimeout = 3 * time.Second

// sampler follows the members over a window, by what they say of themselves.
type sampler struct {
	// source is nil where members do not measure themselves.
	source   Sampler
	interval time.Duration
	// closing and closed exist between begin and end. closing takes when the
	// window has ended.
	closing chan time.Time
	closed  chan struct{}

	mutex  sync.Mutex
	tracks map[string]*members.Track
	// started and ended are the ends of the window; ended is zero until the
	// last sample was taken.
	started, ended time.Time
}

// begin takes the first sample now, and more in intervals. The window begins
// now.
func (s *sampler) begin(ctx context.Context) {
	if s.source == nil {
		return
	}
	s.started = time.Now()
	s.closing, s.closed = make(chan time.Time, 1), make(chan struct{})
	go s.run(context.WithoutCancel(ctx))
}

// last takes the last sample now, without waiting for it. The window ends now.
func (s *sampler) last() {
	if s.closing != nil {
		s.closing <- time.Now()
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
	ticker := time.NewTicker(s.interval)
	defer ticker.Stop()
	for {
		s.take(ctx)
		select {
		case <-ticker.C:
		case ended := <-s.closing:
			s.take(ctx)
			s.close(ended)
			return
		}
	}
}

func (s *sampler) take(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	s.add(s.source.Sample(ctx))
}

func (s *sampler) add(sample map[string]members.Sample) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.tracks == nil {
		s.tracks = map[string]*members.Track{}
	}
	for id, said := range sample {
		if s.tracks[id] == nil {
			s.tracks[id] = &members.Track{}
		}
		s.tracks[id].Add(said)
	}
}

func (s *sampler) close(ended time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.ended = ended
}

// fill writes into a member what is known of it. Its window is only told once
// that has ended: less would look like the whole.
func (s *sampler) fill(member *results.Member) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	track := s.tracks[member.ID]
	if track != nil {
		member.ResidentMemoryBytes = track.MeanMemory()
	}
	switch {
	case s.ended.IsZero():
	case track == nil:
		member.Window = &results.MemberWindow{Unknown: "none of the run's addresses leads to it"}
	default:
		member.Window = track.Window(s.started, s.ended)
	}
}
