package results

import (
	"errors"
	"fmt"
)

// Bounds on what a snapshot that was read may hold.
const (
	// MaxCount bounds what a decoded counter may hold: a week of 400 million
	// requests a second. Sums over all operations of all pods do not overflow.
	MaxCount = 1 << 48
	// MaxBytes bounds sizes: up to here a float64 is exact.
	MaxBytes = 1 << 53
	// MaxSeconds bounds times and durations: 285 years still fit into
	// nanoseconds.
	MaxSeconds = 9e9
)

// Check finds what contradicts itself in a snapshot that was read. It leaves out
// what a timeline says of nothing at its end.
func (s *Snapshot) Check() error {
	if err := errors.Join(s.Timeline.check(), s.Watch.check(), s.checkFired()); err != nil {
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

// maxBuckets bounds the buckets of all histograms of a decoded snapshot, to half a
// MiB. Five operations that each are recorded in three histograms have 4,369 for
// each: requests of 1 µs to 5 h.
const maxBuckets = 1 << 16

// Bound halves the resolution of all histograms, as often as is needed: somebody
// who keeps them must know how much memory they take, whatever a pod sends.
func (s *Snapshot) Bound() {
	for schema := MaxSchema - 1; schema >= MinSchema && s.countBuckets() > maxBuckets; schema-- {
		for _, result := range s.Operations {
			for _, h := range result.Histograms() {
				h.Reduce(schema)
			}
		}
	}
}

func (s *Snapshot) countBuckets() int {
	n := 0
	for _, result := range s.Operations {
		for _, h := range result.Histograms() {
			n += len(h.counts)
		}
	}
	return n
}

// Histograms are all that there are of an operation.
func (r *OperationResult) Histograms() []*Histogram {
	return []*Histogram{&r.Latency, &r.Service, &r.Lateness, &r.Failed, &r.Censored}
}

// check finds counts that contradict each other. Counters are read one after
// the other while the load runs, so only those of a final snapshot must agree.
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
