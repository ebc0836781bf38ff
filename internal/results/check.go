package results

import (
	"errors"
	"fmt"
)

// Limits for decoded snapshots.
const (
	// MaxCount bounds a decoded counter: a week of 400 million requests per second. Sums over all operations of all
	// pods do not overflow.
	MaxCount = 1 << 48
	// MaxBytes bounds sizes: a float64 is exact up to this value.
	MaxBytes = 1 << 53
	// MaxSeconds bounds times and durations: 285 years still fit into nanoseconds.
	MaxSeconds = 9e9
)

// Check returns an error if a decoded snapshot contradicts itself. It also removes empty intervals at the end of the
// timeline.
func (s *Snapshot) Check() error {
	if err := errors.Join(s.Timeline.check(), s.Heatmap.check(), s.checkSamples(), s.Watch.check(), s.Burst.check(), s.checkFired()); err != nil {
		return err
	}
	for kind, d := range s.Disturbances {
		if err := d.check(); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	for operation, result := range s.Operations {
		if err := result.check(s.Stage == StageDone); err != nil {
			return fmt.Errorf("operation %s: %w", operation, err)
		}
	}
	return nil
}

func (s *Snapshot) checkSamples() error {
	for id, samples := range s.Samples {
		if err := samples.check(); err != nil {
			return fmt.Errorf("samples of member %.64q: %w", id, err)
		}
	}
	return nil
}

// maxBytes bounds the counts of all histograms of a decoded snapshot in memory: 65,536 buckets, if each count takes eight
// bytes.
const maxBytes = 1 << 19

// Bound packs all histograms, and halves their resolution until they fit into maxBytes, so that the memory for a pod's
// snapshot is bounded.
func (s *Snapshot) Bound() {
	s.reduce(MaxSchema)
	for schema := MaxSchema - 1; schema >= MinSchema && s.bytes() > maxBytes; schema-- {
		s.reduce(schema)
	}
}

func (s *Snapshot) reduce(schema int) {
	for _, result := range s.Operations {
		for _, h := range result.Histograms() {
			h.Reduce(schema)
			h.Pack()
		}
	}
}

func (s *Snapshot) bytes() int {
	n := 0
	for _, result := range s.Operations {
		for _, h := range result.Histograms() {
			n += h.Bytes()
		}
	}
	return n
}

// Histograms returns all histograms of an operation.
func (r *OperationResult) Histograms() []*Histogram {
	return []*Histogram{&r.Latency, &r.Service, &r.Net, &r.Lateness, &r.Backlog, &r.Failed, &r.Censored}
}

// check returns an error if counts contradict each other. Counters are read one after another while the load runs, so
// only the counts of a final snapshot must agree.
func (r *OperationResult) check(final bool) error {
	for _, h := range r.Histograms() {
		if err := h.check(); err != nil {
			return err
		}
	}
	var failed uint64
	for _, n := range r.Errors {
		failed += n
	}
	if final && failed != r.Failed.count {
		return fmt.Errorf("wanted %d errors, as many as failed requests, found %d", r.Failed.count, failed)
	}
	if final && r.Lost > r.Latency.count {
		return fmt.Errorf("wanted at most %d lost requests, as many as successes, found %d", r.Latency.count, r.Lost)
	}
	if final && r.Attempts > 0 && r.Attempts < r.Latency.count {
		return fmt.Errorf("wanted at least %d attempts, one for each success, found %d", r.Latency.count, r.Attempts)
	}
	return nil
}
