package load

import (
	"context"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// sampleTimeout bounds one sample of all members.
	sampleTimeout = 3 * time.Second
	// pingEvery is the interval of pings, and bounds one of them.
	pingEvery = time.Second
)

// sampler reads the members' metrics during a window.
type sampler struct {
	// source is nil if the driver is no Sampler.
	source    Sampler
	processes processes
	// pinger is nil if the driver is no Pinger.
	pinger   Pinger
	interval time.Duration
	// closing and closed exist between begin and end. closing receives the end of the window.
	closing chan time.Time
	closed  chan struct{}

	mutex sync.Mutex
	// early: the members' memory was to be read before the load.
	early  bool
	tracks map[string]*members.Track
	// started and ended are the bounds of the window; ended is zero until the last sample was taken.
	started, ended time.Time
}

// begin takes the first sample now, at the start of the window, and then one per interval.
func (s *sampler) begin(ctx context.Context) {
	if s.source == nil && len(s.processes) == 0 {
		return
	}
	s.started = time.Now()
	s.closing, s.closed = make(chan time.Time, 1), make(chan struct{})
	go s.run(context.WithoutCancel(ctx))
}

// before notes the members' memory before the load.
func (s *sampler) before(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	sample := s.processes.sample(ctx, s.source, time.Now())
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.early = true
	for id, said := range sample {
		s.track(id).Before(said)
	}
}

// last takes the last sample now, at the end of the window, without waiting for it.
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
	pinging, end := context.WithCancel(ctx)
	var pings sync.WaitGroup
	defer pings.Wait()
	defer end()
	if s.pinger != nil {
		pings.Go(func() { s.ping(pinging) })
	}
	ticker := time.NewTicker(s.interval)
	defer ticker.Stop()
	for {
		s.take(ctx)
		select {
		case <-ticker.C:
		case ended := <-s.closing:
			end()
			s.take(ctx)
			s.close(ended)
			return
		}
	}
}

// ping pings the members at intervals until ctx ends.
func (s *sampler) ping(ctx context.Context) {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, pingEvery)
		answers := s.pinger.Ping(bounded)
		cancel()
		s.mutex.Lock()
		for id, took := range answers {
			s.track(id).Ping(took)
		}
		s.mutex.Unlock()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *sampler) take(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	s.add(s.processes.sample(ctx, s.source, s.started))
}

func (s *sampler) add(sample map[string]members.Sample) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for id, said := range sample {
		s.track(id).Add(said)
	}
}

// track returns the track of a member. The mutex must be held.
func (s *sampler) track(id string) *members.Track {
	if s.tracks == nil {
		s.tracks = map[string]*members.Track{}
	}
	if s.tracks[id] == nil {
		s.tracks[id] = &members.Track{}
		if s.early {
			s.tracks[id].Before(members.Sample{})
		}
	}
	return s.tracks[id]
}

func (s *sampler) close(ended time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.ended = ended
}

// fill writes the figures of a member. Its window is filled only once it has ended, because a part of it could be taken
// for the whole.
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
		member.Window = &results.MemberWindow{Unknown: "no address of the run leads to this member"}
	default:
		member.Window = track.Window(s.started, s.ended)
	}
}

// course writes the single samples of all members into a snapshot, once the window has ended.
func (s *sampler) course(snapshot *results.Snapshot) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.ended.IsZero() {
		return
	}
	for id, track := range s.tracks {
		if samples := track.Samples(s.started); samples != nil {
			if snapshot.Samples == nil {
				snapshot.Samples = map[string]*results.Samples{}
			}
			snapshot.Samples[id] = samples
		}
	}
}
