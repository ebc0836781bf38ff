package results

import (
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// MaxMarks bounds the marks of one kind of disturbance.
const MaxMarks = 64

// Disturbance is what was done of one kind.
type Disturbance struct {
	// Count is how many were begun, Failed how many of these ended with an error
	// or were cut off by the window's end.
	Count, Failed uint64
	// LeftOut is how many were due while the one before went on, and were not begun.
	LeftOut uint64
	// Took is the sum of how long they took, Longest the greatest.
	Took, Longest time.Duration
	// Problem is why the last one failed that did.
	Problem string
	// Marks are the first of them, in order.
	Marks []Mark
}

// Mark is when one disturbance was.
type Mark struct {
	// After is from the start of the measured window to its start.
	After, Took time.Duration
	// Member that it was done to, by its ID; empty for the whole store.
	Member string
}

// Record adds one that has ended. problem is empty if it did what it should.
func (d *Disturbance) Record(m Mark, problem string) {
	d.Count++
	d.Took = addDurations(d.Took, m.Took)
	d.Longest = max(d.Longest, m.Took)
	if problem != "" {
		d.Failed++
		d.Problem = problem
	}
	if len(d.Marks) < MaxMarks {
		d.Marks = append(d.Marks, m)
	}
}

// merge adds what another pod has done: one alone disturbs, so that marks need
// no sorting.
func (d *Disturbance) merge(other *Disturbance) {
	d.Count += other.Count
	d.Failed += other.Failed
	d.LeftOut += other.LeftOut
	d.Took = addDurations(d.Took, other.Took)
	d.Longest = max(d.Longest, other.Longest)
	if other.Problem != "" {
		d.Problem = other.Problem
	}
	d.Marks = append(d.Marks, other.Marks[:min(len(other.Marks), MaxMarks-len(d.Marks))]...)
}

// Clone returns a copy that shares nothing.
func (d *Disturbance) Clone() *Disturbance {
	out := &Disturbance{}
	out.merge(d)
	return out
}

// check finds counts that contradict each other.
func (d *Disturbance) check() error {
	if d.Count == 0 || d.Failed > d.Count || uint64(len(d.Marks)) > d.Count {
		return fmt.Errorf("wanted a number of disturbances that is at least that of failures and marks, found %d, %d and %d", d.Count, d.Failed, len(d.Marks))
	}
	return nil
}

// Disturbance returns what is known of a kind, and makes room for it.
func (s *Snapshot) Disturbance(kind spec.DisturbanceType) *Disturbance {
	if s.Disturbances == nil {
		s.Disturbances = map[spec.DisturbanceType]*Disturbance{}
	}
	if s.Disturbances[kind] == nil {
		s.Disturbances[kind] = &Disturbance{}
	}
	return s.Disturbances[kind]
}
