package results

import (
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// MaxMarks bounds the marks of one kind of disturbance.
const MaxMarks = 64

// Disturbance summarizes the disturbances of one type.
type Disturbance struct {
	// Count is how many were started. Failed is how many of these ended with an error or were cut off by the end of the
	// window.
	Count, Failed uint64
	// LeftOut is how many were skipped because the previous one was still running.
	LeftOut uint64
	// Took is the sum of their durations, Longest the longest duration.
	Took, Longest time.Duration
	// Problem is the error of the last failed disturbance.
	Problem string
	// Marks are the first disturbances, in order.
	Marks []Mark
}

// Mark is the time of one disturbance.
type Mark struct {
	// After is the time from the start of the measured window to the start of the disturbance.
	After, Took time.Duration
	// Member is the ID of the disturbed member; empty for the whole store.
	Member string
}

// Record adds a disturbance that has ended. problem is empty if it succeeded.
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

// merge adds the disturbances of another pod. Only one pod disturbs, so the marks need no sorting.
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

// Clone returns an independent copy.
func (d *Disturbance) Clone() *Disturbance {
	out := &Disturbance{}
	out.merge(d)
	return out
}

// check returns an error if counts contradict each other.
func (d *Disturbance) check() error {
	if d.Count == 0 || d.Failed > d.Count || uint64(len(d.Marks)) > d.Count {
		return fmt.Errorf("wanted at least as many disturbances as failures and as marks, found %d, %d and %d", d.Count, d.Failed, len(d.Marks))
	}
	return nil
}

// Disturbance returns the disturbances of a type, creating the entry if needed.
func (s *Snapshot) Disturbance(kind spec.DisturbanceType) *Disturbance {
	if s.Disturbances == nil {
		s.Disturbances = map[spec.DisturbanceType]*Disturbance{}
	}
	if s.Disturbances[kind] == nil {
		s.Disturbances[kind] = &Disturbance{}
	}
	return s.Disturbances[kind]
}
