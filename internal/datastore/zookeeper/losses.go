package zookeeper

import (
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// event follows the state of a session: go-zookeeper reconnects after a loss, and resumes the session.
func (s *session) event(e zk.Event) {
	switch e.State {
	case zk.StateHasSession:
		s.once.Do(func() { close(s.ready) })
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if !s.lost.IsZero() {
			s.past.Add(results.Sessions{Cuts: 1, LongestCut: time.Since(s.lost)})
			s.lost = time.Time{}
		}
	case zk.StateDisconnected:
		select {
		case <-s.ready:
		default:
			return
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.lost.IsZero() && s.dialing.Err() == nil {
			s.lost = time.Now()
		}
	}
}

// away is for how long the session has had no connection; 0 if it has one.
func (s *session) away() time.Duration {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.lost.IsZero() {
		return 0
	}
	return time.Since(s.lost)
}

// figures are all losses of the connection, and the session's time-out.
func (s *session) figures() results.Sessions {
	away := s.away()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := s.past
	if away > 0 {
		all.Add(results.Sessions{Cuts: 1, LongestCut: away})
	}
	return all
}

// Sessions implements load.Resumer.
func (d *Driver) Sessions() (all results.Sessions) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, s := range d.load {
		all.Add(s.figures())
	}
	return all
}
