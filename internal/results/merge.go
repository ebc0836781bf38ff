package results

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Merge adds up the counts of several pods. It skips nil snapshots of unknown pods. Values that cannot be added are
// merged conservatively: the earliest stage, the first failure, the whole span of the windows, the longest skew. A
// transport is kept if all pods share it.
func Merge(snapshots []*Snapshot) *Snapshot {
	merged := &Snapshot{
		Index: -1, Operations: map[spec.Operation]*OperationResult{}, Requests: map[spec.RPC]map[Phase]uint64{},
	}
	known := slices.DeleteFunc(slices.Clone(snapshots), func(s *Snapshot) bool { return s == nil })
	for i, s := range known {
		if i == 0 {
			merged.RunUID, merged.Transport, merged.Stage = s.RunUID, s.Transport, s.Stage
		}
		merged.mergeState(s)
		merged.mergeCounts(s)
	}
	merged.Window, merged.Target = mergeWindows(known), TargetOf(known)
	return merged
}

func (s *Snapshot) mergeState(other *Snapshot) {
	if s.Transport != other.Transport {
		s.Transport = ""
	}
	if s.Failure == nil {
		s.Failure = other.Failure
	}
	s.Fired = earlierFired(s.Fired, other.Fired)
	s.Unwatched = mergeUnwatched(s.Unwatched, other.Unwatched)
	s.Stage = earliest(Stages, s.Stage, other.Stage)
	s.Cleaning = mergeCleaning(s.Cleaning, other.Cleaning)
	s.Stopped = s.Stopped || other.Stopped
	s.CoarsePacing = s.CoarsePacing || other.CoarsePacing
	s.KeyBytes = max(s.KeyBytes, other.KeyBytes)
	for _, part := range other.Omitted {
		if !slices.Contains(s.Omitted, part) {
			s.Omitted = append(s.Omitted, part)
		}
	}
}

// mergeTargets returns the view of client pod 0, the only one with members, with the addresses that any pod skipped and the
// members that any pod reached.
func mergeTargets(a, b *Target) *Target {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	out := *a
	if len(a.Members) == 0 && len(b.Members) > 0 {
		out = *b
	}
	out.Skipped, out.AnsweredBy = mergeSkipped(a.Skipped, b.Skipped), mergeAnswers(a.AnsweredBy, b.AnsweredBy)
	return &out
}

func mergeSkipped(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	for address, reason := range b {
		out[address] = min(reason, cmp.Or(out[address], reason))
	}
	return out
}

func earliest[T comparable](order []T, a, b T) T {
	if slices.Index(order, b) < slices.Index(order, a) {
		return b
	}
	return a
}

// mergeCleaning reports the keys as deleted only if no pod has keys left.
func mergeCleaning(a, b Cleaning) Cleaning {
	for _, state := range []Cleaning{CleaningKeysLeft, CleaningKeysDeleted, CleaningNothingWritten} {
		if a == state || b == state {
			return state
		}
	}
	return ""
}

func (s *Snapshot) mergeCounts(other *Snapshot) {
	s.Resent += other.Resent
	s.Sessions.Add(other.Sessions)
	s.Bodies.add(other.Bodies)
	s.Burst.Add(&other.Burst)
	for rpc, phases := range other.Requests {
		if s.Requests[rpc] == nil {
			s.Requests[rpc] = map[Phase]uint64{}
		}
		addCounts(s.Requests[rpc], phases)
	}
	s.Started += other.Started
	s.Work.add(other.Work)
	s.Arrivals.add(other.Arrivals)
	s.Pauses.add(other.Pauses)
	for kind, d := range other.Disturbances {
		s.Disturbance(kind).merge(d)
	}
	s.Course.merge(&other.Course)
	s.Watch.add(other.Watch)
	for operation, result := range other.Operations {
		if s.Operations[operation] == nil {
			s.Operations[operation] = &OperationResult{Errors: map[string]uint64{}}
		}
		s.Operations[operation].Merge(result)
	}
}

func addCounts[K comparable](to, from map[K]uint64) {
	for key, n := range from {
		to[key] += n
	}
}

// Merge adds the counts of another result.
func (r *OperationResult) Merge(other *OperationResult) {
	r.mergeNet(other)
	r.Latency.Merge(&other.Latency)
	r.Service.Merge(&other.Service)
	r.Lateness.Merge(&other.Lateness)
	r.Backlog.Merge(&other.Backlog)
	r.Failed.Merge(&other.Failed)
	r.Censored.Merge(&other.Censored)
	addCounts(r.Errors, other.Errors)
	for _, code := range slices.Sorted(maps.Keys(other.Examples)) {
		r.Examples.Add(code, other.Examples[code])
	}
	r.CompletedInWindow += other.CompletedInWindow
	r.Lost += other.Lost
	r.Attempts += other.Attempts
}

// mergeNet keeps Net empty if it is the same as Service on both sides.
func (r *OperationResult) mergeNet(other *OperationResult) {
	if r.Net.Count() == 0 && other.Net.Count() == 0 {
		return
	}
	if r.Net.Count() == 0 {
		r.Net = r.Service.Clone()
	}
	r.Net.Merge(other.NetLatency())
}

// mergeWindows returns the whole span of the pods' windows. Its end is zero until all windows have ended.
func mergeWindows(snapshots []*Snapshot) (w Window) {
	open := false
	for _, s := range snapshots {
		p := s.Window
		w.StartAt = earlier(w.StartAt, p.StartAt)
		w.Start = earlier(w.Start, p.Start)
		w.End = later(w.End, p.End)
		w.LastResponse = later(w.LastResponse, p.LastResponse)
		w.Skew = max(w.Skew, p.Skew)
		w.Planned = max(w.Planned, p.Planned)
		w.PlannedRequests += p.PlannedRequests
		open = open || p.End.IsZero()
	}
	if open {
		w.End = time.Time{}
	}
	return w
}

// earlier returns the earlier time and ignores a zero time.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// longest is the longest duration that can be encoded.
const longest = time.Duration(MaxSeconds * nanosecondsPerSecond)

// addDurations limits the sum to longest, which also prevents an overflow.
func addDurations(a, b time.Duration) time.Duration {
	if a > longest-b {
		return longest
	}
	return a + b
}
