package load

import (
	"context"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// diagnosis is what a Diagnoser found during the window.
type diagnosis struct {
	found *results.Diagnosis
	err   error
}

// beginDiagnosis looks for what is wrong with the target from now on, if the driver does that.
func (s *Session) beginDiagnosis(ctx context.Context) {
	d, ok := s.driver.(Diagnoser)
	if !ok {
		return
	}
	s.diagnosed = make(chan diagnosis, 1)
	go func() {
		found, err := d.Diagnose(ctx, s.plan.Load.Duration())
		s.diagnosed <- diagnosis{found, err}
	}()
}

// awaitDiagnosis waits until it is complete, and keeps it.
func (s *Session) awaitDiagnosis() error {
	if s.diagnosed == nil {
		return nil
	}
	d := <-s.diagnosed
	if d.found != nil {
		s.state.set(func(s *state) { s.target.Diagnosis = d.found })
	}
	return d.err
}
