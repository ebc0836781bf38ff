package load

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Snapshot returns the counts so far. It may be called at any time, concurrently. After Run it is final.
func (s *Session) Snapshot() *results.Snapshot {
	snapshot := &results.Snapshot{
		RunUID: s.plan.RunUID, Index: s.part.Index, Transport: s.plan.Load.Transport,
		Operations: map[spec.Operation]*results.OperationResult{},
		Requests:   s.driver.Requests(),
		KeyBytes:   s.workload.KeyBytes(),
		Clock:      wall(),
	}
	if resender, ok := s.driver.(Resender); ok {
		snapshot.Resent = resender.Resent()
	}
	if resumer, ok := s.driver.(Resumer); ok {
		snapshot.Sessions = resumer.Sessions()
	}
	if weigher, ok := s.driver.(Weigher); ok {
		snapshot.Bodies = weigher.Bodies()
	}
	s.state.fill(snapshot)
	if s.matcher != nil {
		snapshot.Watch = s.matcher.results()
	}
	if s.replays != nil {
		snapshot.Watch = s.replays.results()
	}
	for _, operation := range s.plan.Operations() {
		snapshot.Operations[operation] = s.recorder.results(operation)
	}
	// Started is read after the ended requests, so that it is never smaller.
	if e := s.engine.Load(); e != nil {
		snapshot.Started = e.started()
		if snapshot.HasMeasured() {
			snapshot.Arrivals = e.arrivals()
		}
	}
	snapshot.Pauses = s.recorder.pauses()
	snapshot.Burst = s.burst()
	snapshot.Disturbances = s.disturber.results()
	if snapshot.HasMeasured() {
		s.recorder.course(snapshot)
		s.traffic.course(snapshot)
		s.sampler.course(snapshot)
	}
	if last := s.recorder.last(); last > 0 {
		snapshot.Window.LastResponse = last.Wall()
	}
	snapshot.Work = s.keyWork(snapshot.Stage)
	s.watchdog.fill(snapshot)
	if snapshot.Target != nil {
		for i := range snapshot.Target.Members {
			s.sampler.fill(&snapshot.Target.Members[i])
		}
	}
	if answerer, ok := s.driver.(Answerer); ok {
		fillAnswers(snapshot, answerer.AnsweredBy())
	}
	return snapshot
}

func fillAnswers(snapshot *results.Snapshot, by map[string][]string) {
	if len(by) == 0 {
		return
	}
	if snapshot.Target == nil {
		snapshot.Target = &results.Target{}
	}
	snapshot.Target.AnsweredBy = by
}

// keyWork returns the work of a stage.
func (s *Session) keyWork(stage results.Stage) results.Work {
	switch stage {
	case results.StagePreloading:
		return s.preloaded.counts()
	case results.StageCleaning:
		if deleter, ok := s.driver.(Deleter); ok {
			return deleter.Deleted()
		}
	}
	return results.Work{}
}

// Stage returns the session's current stage.
func (s *Session) Stage() results.Stage {
	s.state.mutex.Lock()
	defer s.state.mutex.Unlock()
	return s.state.stage
}

// Ready reports whether the session has reached StageReady.
func (s *Session) Ready() bool {
	s.state.mutex.Lock()
	defer s.state.mutex.Unlock()
	return s.state.ready
}
