package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Start sets what is fixed before the first run. drawn is the seed if the spec has none.
func Start(s *v1alpha1.EtcdBenchmarkSuite, drawn int64, now time.Time) {
	s.Status.StartTime, s.Status.Seed = &metav1.Time{Time: now.Truncate(time.Second)}, s.Spec.Seed
	if s.Status.Seed == nil {
		s.Status.Seed = &drawn
	}
	// The CRD's default conditions mean that the suite has not been seen; their time is 1970.
	s.Status.Conditions = nil
	Update(s)
	expect(s, now)
}

// Created records that a run was created.
func Created(s *v1alpha1.EtcdBenchmarkSuite, p Planned, now time.Time) {
	s.Status.Current, s.Status.PausedUntil = p.Name, nil
	Continue(s, v1alpha1.StageRunning, Describe(s, p), now)
}

// Describe says which run it is, for people who follow the suite.
func Describe(s *v1alpha1.EtcdBenchmarkSuite, p Planned) string {
	if p.Step.Role != "" {
		return describeProbe(p)
	}
	if p.Repeats {
		return fmt.Sprintf("Repetition of an invalid run: %s, round %d.", p.Cell.Name, p.Round)
	}
	planned := len(Plan(s))
	return fmt.Sprintf("Run %d of %d: %s, round %d.", planned-Left(s)+1, planned, p.Cell.Name, p.Round)
}

// Refused records a run that the API server refused to create.
func Refused(s *v1alpha1.EtcdBenchmarkSuite, p Planned, cause error, now time.Time) {
	length, _ := room(s)
	add(s, v1alpha1.SuiteResult{
		Name: p.Name, Cell: p.Cell.Name, Round: p.Round, Probe: asked(p), Reason: v1alpha1.ReasonRefused,
		Invalid: text.Shorten("it could not be created: "+cause.Error(), length),
	}, now)
}

// Track records the state of the current run. run is nil if the run does not exist any more. The result is recorded when
// the run has finished. The run stays the current one until its keys are deleted, or cannot be deleted.
func Track(s *v1alpha1.EtcdBenchmarkSuite, run *v1alpha1.EtcdBenchmark, now time.Time) {
	name := s.Status.Current
	i := slices.IndexFunc(s.Status.Results, func(r v1alpha1.SuiteResult) bool { return r.Name == name })
	switch p, planned := find(s, name); {
	case !planned:
		s.Status.Current = ""
	case run == nil && i >= 0:
		s.Status.Current = ""
		if s.Status.Results[i].Cleaned == "" {
			s.Status.Results[i].Cleaned = metav1.ConditionUnknown
		}
	case run == nil:
		s.Status.Current = ""
		add(s, v1alpha1.SuiteResult{
			Name: p.Name, Cell: p.Cell.Name, Round: p.Round, Probe: asked(p), Reason: v1alpha1.ReasonDeleted,
			Invalid: deletedRun, Cleaned: metav1.ConditionUnknown,
		}, now)
	case !run.HasFinished():
		return
	case i < 0:
		r := Result(s, p, run)
		if run.DeletionTimestamp != nil && r.Reason == v1alpha1.ReasonStopped {
			r.Reason, r.Invalid = v1alpha1.ReasonDeleted, deletedRun
		}
		keepWarnings(s, run)
		add(s, r, now)
	default:
		s.Status.Results[i].Cleaned = Result(s, p, run).Cleaned
	}
	if run == nil {
		return
	}
	// A run whose keys could not be deleted keeps its finalizer until a user deletes it.
	if !slices.Contains(run.Finalizers, v1alpha1.Finalizer) || meta.IsStatusConditionFalse(run.Status.Conditions, v1alpha1.ConditionCleaned) {
		s.Status.Current = ""
		pause(s, now)
		Continue(s, v1alpha1.StageRunning, fmt.Sprintf("%s of %d runs have ended.", text.Grouped(s.Status.Runs.Finished), s.Status.Runs.Planned), now)
	}
}

const deletedRun = "it was deleted before it ended, or taken from the suite"

// find returns the planned run of a name, or its repetition.
func find(s *v1alpha1.EtcdBenchmarkSuite, name string) (Planned, bool) {
	first, repeats := strings.CutSuffix(name, again)
	for _, p := range Plan(s) {
		if p.Name == name {
			return p, true
		}
		if repeats && p.Name == first {
			p.Name, p.Repeats = name, true
			return p, true
		}
	}
	return Planned{}, false
}

// add adds a result and computes what follows from it.
func add(s *v1alpha1.EtcdBenchmarkSuite, r v1alpha1.SuiteResult, now time.Time) {
	s.Status.Results = append(s.Status.Results, r)
	Update(s)
	expect(s, now)
}

// Add adds the result of a finished run.
func Add(s *v1alpha1.EtcdBenchmarkSuite, p Planned, run *v1alpha1.EtcdBenchmark, now time.Time) {
	keepWarnings(s, run)
	add(s, Result(s, p, run), now)
	pause(s, now)
}

// pause begins the rest of the target after a probe.
func pause(s *v1alpha1.EtcdBenchmarkSuite, now time.Time) {
	s.Status.PausedUntil = nil
	if f := s.Spec.Search; f != nil && f.PauseSeconds != nil && *f.PauseSeconds > 0 && more(s) {
		// Status has whole seconds, and the pause is not shorter than asked.
		s.Status.PausedUntil = &metav1.Time{Time: now.Add(time.Duration(*f.PauseSeconds)*time.Second + time.Second - 1).Truncate(time.Second)}
	}
}

// Rest is how long the next run has to wait; 0 if it may start.
func Rest(s *v1alpha1.EtcdBenchmarkSuite, now time.Time) time.Duration {
	if s.Status.PausedUntil == nil || s.Status.Current != "" {
		return 0
	}
	return max(s.Status.PausedUntil.Sub(now), 0)
}

// Then returns the next run after those that have ended; false if the suite has ended. stop is true if a user stopped the
// suite.
func Then(s *v1alpha1.EtcdBenchmarkSuite, stop bool) (Planned, bool) {
	if stop || s.Spec.OnRunFailed == v1alpha1.RunFailedStop && slices.ContainsFunc(s.Status.Results, Failed) {
		return Planned{}, false
	}
	return Next(s)
}

func more(s *v1alpha1.EtcdBenchmarkSuite) bool {
	_, more := Next(s)
	return more
}

// IsKept reports whether the EtcdBenchmark of a result stays. A run whose keys may be left stays in any case: it has their
// prefix, and the command that deletes them.
func IsKept(s *v1alpha1.EtcdBenchmarkSuite, r v1alpha1.SuiteResult) bool {
	return r.Cleaned == metav1.ConditionFalse || keeps(s.Spec.KeepRuns, r)
}

func keeps(policy v1alpha1.KeepRunsPolicy, r v1alpha1.SuiteResult) bool {
	switch policy {
	case v1alpha1.KeepRunsNone:
		return false
	case v1alpha1.KeepRunsFailed:
		return r.Invalid != "" || r.Passed == metav1.ConditionFalse || Failed(r)
	}
	return true
}

// WantsReport reports whether the report of a finished run is kept, by the annotation that its suite has set.
func WantsReport(run *v1alpha1.EtcdBenchmark) bool {
	policy := v1alpha1.KeepRunsPolicy(run.Annotations[v1alpha1.AnnotationKeepReport])
	return policy == "" || keeps(policy, Result(&v1alpha1.EtcdBenchmarkSuite{}, Planned{}, run))
}

// expect estimates when the last run ends: from the runs that have ended, else from the lengths of the loads.
func expect(s *v1alpha1.EtcdBenchmarkSuite, now time.Time) {
	s.Status.EstimatedEnd = nil
	if left := Estimate(s, now); left > 0 {
		s.Status.EstimatedEnd = &metav1.Time{Time: now.Add(left).Truncate(time.Second)}
	}
}

// Estimate is how long the runs that are left will take; 0 if that is not known. For a search it is the time of all
// probes that it can need, if none must be longer for its percentiles.
func Estimate(s *v1alpha1.EtcdBenchmarkSuite, now time.Time) time.Duration {
	done, elapsed := len(s.Status.Results), time.Duration(0)
	if done > 0 && s.Status.StartTime != nil {
		elapsed = now.Sub(s.Status.StartTime.Time)
	}
	if f := s.Spec.Search; f != nil && elapsed == 0 {
		probe, _ := LengthOf(f.Load)
		return probe * time.Duration(Left(s))
	}
	ended, left, known := lengths(s)
	switch {
	case elapsed > 0 && known && ended > 0:
		return time.Duration(float64(elapsed) * float64(left) / float64(ended))
	case elapsed > 0:
		return elapsed / time.Duration(done) * time.Duration(Left(s))
	case known:
		return left
	}
	return 0
}

// lengths are what the runs that have ended, and those that are left, take by their plan; known is false if the target decides it.
func lengths(s *v1alpha1.EtcdBenchmarkSuite) (ended, left time.Duration, known bool) {
	if s.Spec.Search != nil {
		return 0, 0, false
	}
	each, results := map[string]time.Duration{}, byName(s)
	for _, c := range Cells(s) {
		run := Planned{Cell: c}.Run(s)
		length, known := LengthOf(run.Resolved().Load)
		if !known {
			return 0, 0, false
		}
		each[c.Name] = length + Preparation(run)
	}
	for _, p := range Plan(s) {
		if _, done := results[p.Name]; !done {
			left += each[p.Cell.Name]
		}
	}
	for _, r := range s.Status.Results {
		ended += each[r.Cell]
	}
	return ended, left, true
}

const (
	// preparedPerSecond is about how many keys per second are written before a load.
	preparedPerSecond = 2000
	// aroundMembers is about how long it takes to start members and to end them.
	aroundMembers = 3 * time.Second
)

// Preparation is about how long a run takes before its load: to start its members, and to write the keys that the load needs.
func Preparation(run *v1alpha1.EtcdBenchmark) time.Duration {
	load := benchmark.Run(run)
	length := time.Duration(load.PreloadCount()) * time.Second / preparedPerSecond
	if run.Spec.Target.Ephemeral != nil {
		length += aroundMembers
	}
	return length
}

// LengthOf is the length of warm-up and window; known is false if the target decides it.
func LengthOf(l spec.Load) (length time.Duration, known bool) {
	length = time.Duration(l.WarmupSeconds) * time.Second
	switch {
	case l.Requests == nil:
		return length + l.Duration(), true
	case l.Rate != nil && l.Rate.PerSecond > 0:
		return length + time.Duration(*l.Requests/l.Rate.PerSecond)*time.Second, true
	}
	return length, false
}

// SetFinished sets the conditions of a suite that has ended. stop is true if a user stopped it.
func SetFinished(s *v1alpha1.EtcdBenchmarkSuite, stop bool, now time.Time) {
	stopped := stop && (more(s) || slices.ContainsFunc(s.Status.Results, func(r v1alpha1.SuiteResult) bool { return r.Reason == v1alpha1.ReasonStopped }))
	reason, message := Finish(s, stopped)
	conclude(s, reason, message, !stopped && Unmeasured(s) > 0, now)
}

// EndAsFailed ends a suite on this machine, because a run could not start.
func EndAsFailed(s *v1alpha1.EtcdBenchmarkSuite, cause error, now time.Time) {
	why := text.Shorten(strings.TrimSuffix(text.Printable(cause.Error()), "."), v1alpha1.MaxMessageLength)
	conclude(s, v1alpha1.ReasonRunFailed, "A run could not start: "+why+"."+didNotRun(s), true, now)
}

func conclude(s *v1alpha1.EtcdBenchmarkSuite, reason, message string, stalled bool, now time.Time) {
	end(s, reason, message, stalled, now)
	endSearches(s)
	if passed := Judge(s); passed != nil {
		set(s, *passed, now)
	}
	set(s, cleaned(s), now)
}

// EndAsInvalid ends a suite that cannot start.
func EndAsInvalid(s *v1alpha1.EtcdBenchmarkSuite, message string, now time.Time) {
	end(s, v1alpha1.ReasonInvalidCell, message, true, now)
}

func end(s *v1alpha1.EtcdBenchmarkSuite, reason, message string, stalled bool, now time.Time) {
	s.Status.CompletionTime, s.Status.EstimatedEnd, s.Status.Current = &metav1.Time{Time: now.Truncate(time.Second)}, nil, ""
	s.Status.PausedUntil = nil
	set(s, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason, Message: message}, now)
	meta.RemoveStatusCondition(&s.Status.Conditions, v1alpha1.ConditionReconciling)
	if stalled {
		set(s, metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: message}, now)
	}
}

// Continue sets the conditions of a suite that goes on.
func Continue(s *v1alpha1.EtcdBenchmarkSuite, stage, message string, now time.Time) {
	set(s, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionFalse, Reason: stage, Message: message}, now)
	set(s, metav1.Condition{Type: v1alpha1.ConditionReconciling, Status: metav1.ConditionTrue, Reason: stage, Message: message}, now)
}

func set(s *v1alpha1.EtcdBenchmarkSuite, c metav1.Condition, now time.Time) {
	benchmark.SetCondition(&s.Status.Conditions, c, s.Generation, now)
}

// cleaned says whether the keys of all runs are deleted.
func cleaned(s *v1alpha1.EtcdBenchmarkSuite) metav1.Condition {
	const most = 5
	names := map[metav1.ConditionStatus][]string{}
	for _, r := range s.Status.Results {
		names[r.Cleaned] = append(names[r.Cleaned], r.Name)
	}
	c := metav1.Condition{Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonKeysDeleted, Message: "The keys of all runs are deleted."}
	doubtful := append(names[metav1.ConditionFalse], names[metav1.ConditionUnknown]...)
	switch n := len(doubtful); {
	case len(names[metav1.ConditionTrue])+n == 0:
		c.Reason, c.Message = v1alpha1.ReasonNothingWritten, "No run has written to a target."
	case n > 0:
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonKeysLeft
		if len(names[metav1.ConditionFalse]) > 0 {
			c.Status = metav1.ConditionFalse
		}
		list := strings.Join(doubtful[:min(n, most)], ", ")
		if n > most {
			list += fmt.Sprintf(" and %d more", n-most)
		}
		c.Message = fmt.Sprintf("Keys of %s may be left in the target: %s.", text.Plural(n, "run"), list)
	}
	return c
}
