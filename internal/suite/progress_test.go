package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestIsKept(t *testing.T) {
	for name, tc := range map[string]struct {
		result            v1alpha1.SuiteResult
		all, failed, none bool
	}{
		"good":              {v1alpha1.SuiteResult{Reason: v1alpha1.ReasonCompleted, Passed: metav1.ConditionTrue, Operations: []v1alpha1.SuiteOperation{{Succeeded: 1}}}, true, false, false},
		"missed":            {v1alpha1.SuiteResult{Reason: v1alpha1.ReasonCompleted, Passed: metav1.ConditionFalse}, true, true, false},
		"invalid":           {v1alpha1.SuiteResult{Reason: v1alpha1.ReasonCompleted, Invalid: "ClientBound"}, true, true, false},
		"its keys are left": {v1alpha1.SuiteResult{Reason: v1alpha1.ReasonCompleted, Cleaned: metav1.ConditionFalse}, true, true, true},
	} {
		for policy, want := range map[v1alpha1.KeepRunsPolicy]bool{v1alpha1.KeepRunsAll: tc.all, v1alpha1.KeepRunsFailed: tc.failed, v1alpha1.KeepRunsNone: tc.none} {
			s := table(func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.KeepRuns = policy })
			if got := IsKept(s, tc.result); got != want {
				t.Errorf("%s, keepRuns %s: kept is %v", name, policy, got)
			}
		}
	}
}

func TestARefusedRun(t *testing.T) {
	s := table()
	Start(s, 1, now)
	p, _ := Next(s)
	Refused(s, p, errors.New("exceeded quota"), now)
	if r := s.Status.Results[0]; !Failed(r) || !strings.Contains(r.Invalid, "exceeded quota") || s.Status.Current != "" {
		t.Errorf("found %+v", r)
	}
}

func TestEstimatedEnd(t *testing.T) {
	s := table(rounds(2), func(s *v1alpha1.EtcdBenchmarkSuite) {
		for i := range s.Spec.Loads {
			s.Spec.Loads[i].Load.DurationSeconds, s.Spec.Loads[i].Load.WarmupSeconds = new(int32(20)), 5
		}
	})
	Start(s, 1, now)
	if got := s.Status.EstimatedEnd; got == nil || got.Sub(now) != 16*25*time.Second {
		t.Errorf("before the first run: estimated end %v, wanted the sum of 16 runs of 25 s", got)
	}
	p, _ := Next(s)
	Add(s, p, finished("100"), now.Add(40*time.Second))
	if got := s.Status.EstimatedEnd; got == nil || got.Sub(now) != 16*40*time.Second {
		t.Errorf("after a run of 40 s: estimated end %v, wanted 15 more of them", got)
	}
	// Runs that are planned to be longer are expected to be longer.
	s.Spec.Loads[1].Load.DurationSeconds = new(int32(95))
	s.Status.Results = nil
	Start(s, 1, now)
	Add(s, p, finished("100"), now.Add(50*time.Second))
	if got := s.Status.EstimatedEnd; got == nil || got.Sub(now) != 50*time.Second+7*50*time.Second+8*200*time.Second {
		t.Errorf("with longer runs: estimated end in %v", got.Sub(now))
	}
	// Members start, and keys are written before the load.
	s.Status.Results = nil
	for i := range s.Spec.Targets {
		s.Spec.Targets[i].Target = v1alpha1.Target{Ephemeral: &v1alpha1.EphemeralTarget{Replicas: 1}}
	}
	s.Spec.Workloads[0].Workload.Put = &spec.Put{Overwrite: true, Keys: spec.Keys{Count: 10_000}}
	if got, want := Estimate(s, now), 8*(25+100)*time.Second+16*3*time.Second+8*5*time.Second; got != want {
		t.Errorf("with preparations: found %s, wanted %s", got, want)
	}
	s.Spec.Loads[0].Load.Requests, s.Spec.Loads[0].Load.DurationSeconds = new(int64(100)), nil
	Start(s, 1, now)
	s.Status.Results = nil
	if got := Estimate(s, now); got != 0 {
		t.Errorf("a closed loop of 100 requests takes as long as the target needs, found %s", got)
	}
}

// A run stays the current one until its keys are deleted; its result is recorded once.
func TestTrack(t *testing.T) {
	s := table()
	Start(s, 1, now)
	p, _ := Next(s)
	Created(s, p, now)
	running := finished("100", func(run *v1alpha1.EtcdBenchmark) { run.Status.Conditions[0].Status = metav1.ConditionFalse })
	Track(s, running, now)
	if s.Status.Current != p.Name || len(s.Status.Results) != 0 {
		t.Fatalf("while it runs: %+v", s.Status)
	}
	run := finished("100", func(run *v1alpha1.EtcdBenchmark) { run.Finalizers = []string{v1alpha1.Finalizer} })
	for range 2 {
		Track(s, run, now)
		if s.Status.Current != p.Name || len(s.Status.Results) != 1 || s.Status.Results[0].Cleaned != "" {
			t.Fatalf("while its keys are deleted: %+v", s.Status)
		}
	}
	// A run whose keys cannot be deleted keeps its finalizer.
	meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionFalse})
	Track(s, run, now)
	if s.Status.Current != "" || len(s.Status.Results) != 1 || s.Status.Results[0].Cleaned != metav1.ConditionFalse {
		t.Errorf("after its end: %+v", s.Status)
	}
	p, _ = Next(s)
	Created(s, p, now)
	Track(s, nil, now)
	if s.Status.Current != "" || len(s.Status.Results) != 2 || s.Status.Results[1].Reason != v1alpha1.ReasonDeleted || !Failed(s.Status.Results[1]) {
		t.Errorf("after somebody deleted it: %+v", s.Status)
	}
	SetFinished(s, true, now)
	cleaned := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionCleaned)
	if cleaned.Status != metav1.ConditionFalse || !strings.Contains(cleaned.Message, "2 runs") {
		t.Errorf("wanted the keys of two runs left, found %+v", cleaned)
	}
}

// A run that is deleted while it runs ends as Stopped first.
func TestTrackADeletedRun(t *testing.T) {
	s := table()
	Start(s, 1, now)
	p, _ := Next(s)
	Created(s, p, now)
	Track(s, finished("100", func(run *v1alpha1.EtcdBenchmark) {
		run.Finalizers, run.DeletionTimestamp = []string{v1alpha1.Finalizer}, &metav1.Time{Time: now}
		run.Status.Conditions[0].Reason = v1alpha1.ReasonStopped
	}), now)
	if s.Status.Current != p.Name || s.Status.Results[0].Reason != v1alpha1.ReasonDeleted || !Failed(s.Status.Results[0]) {
		t.Errorf("found %+v", s.Status)
	}
	Track(s, nil, now)
	if s.Status.Current != "" || len(s.Status.Results) != 1 || s.Status.Results[0].Cleaned != metav1.ConditionUnknown {
		t.Errorf("after it is gone: %+v", s.Status)
	}
}

// A repetition is found by its name, too.
func TestTrackARepetition(t *testing.T) {
	s := table(rounds(3), compared)
	Start(s, 1, now)
	for range 8 {
		p, _ := Next(s)
		run := finished("100")
		if p.Name == "nightly-1-1" {
			run.Status.Summary.Partial, run.Status.Summary.Fingerprint = true, &v1alpha1.Fingerprint{Client: "12345678"}
		}
		Add(s, p, run, now)
	}
	p, _ := Next(s)
	Created(s, p, now)
	Track(s, finished("100"), now)
	if last := s.Status.Results[8]; last.Name != "nightly-1-1-r" || last.Round != 1 || s.Status.Runs.Repeated != 1 {
		t.Errorf("found %+v", s.Status.Results[8])
	}
}

// TestStatusHasRoomAtItsMaxima: an object of etcd has at most 1.5 MiB, and spec and managed fields need room, too.
func TestStatusHasRoomAtItsMaxima(t *testing.T) {
	const most = 1200 << 10
	long := strings.Repeat("x", 5000)
	entry := func(i int) v1alpha1.EntryName { return v1alpha1.EntryName(fmt.Sprintf("%020d", i)) }
	s := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("n", v1alpha1.MaxSuiteNameLength)}}
	for i := range 5 {
		s.Spec.Targets = append(s.Spec.Targets, v1alpha1.SuiteTarget{Name: entry(i)})
		s.Spec.Loads = append(s.Spec.Loads, v1alpha1.SuiteLoad{Name: entry(i)})
	}
	for i := range 4 {
		s.Spec.Workloads = append(s.Spec.Workloads, v1alpha1.SuiteWorkload{Name: entry(i)})
	}
	s.Spec.Rounds = v1alpha1.MaxSuiteRuns / v1alpha1.MaxCells
	s.Spec.Compare = &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisTargets, Baseline: v1alpha1.SuiteBaseline{Entry: entry(0)}}
	for _, statistic := range []spec.Statistic{spec.StatisticP50, spec.StatisticP90, spec.StatisticP99, spec.StatisticP999} {
		s.Spec.Compare.Metrics = append(s.Spec.Compare.Metrics, v1alpha1.Metric{Type: v1alpha1.MetricLatency, Operation: spec.OperationWatchDelivery, Statistic: statistic})
	}
	run := finished("123456.789", func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Summary.Partial = true
		run.Status.Conditions[0].Message = long
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionFalse, Message: long})
		run.Status.Target = &v1alpha1.TargetStatus{Members: []v1alpha1.MemberStatus{{ResidentMemoryBytes: new(int64(1 << 40))}}}
		run.Status.Summary.Validity, run.Status.Summary.Fingerprint = &v1alpha1.Validity{Shared: v1alpha1.SharedNode, Verdict: v1alpha1.ValidityClientBound, AddedPerMillion: new(int64(500_000))}, &v1alpha1.Fingerprint{Client: "12345678"}
		run.Status.Summary.Members = []v1alpha1.MemberSummary{{WALFsync: &v1alpha1.MemberDuration{Count: 100, MeanNanoseconds: 700}}}
		run.Status.Summary.Warnings = []string{
			"the history that watchers read was compacted", "it is not known whether the failed or unanswered puts caused events",
			"percentiles come from termination messages", "the target's members could not be listed", "reported no disturbance of type",
			"an address of the target did not answer when client pods started", flushed, "ran on one machine and shared its CPUs",
		}
		run.Status.Summary.Operations = nil
		for i := range 16 {
			run.Status.Summary.Operations = append(run.Status.Summary.Operations, v1alpha1.OperationSummary{
				Operation: spec.Operation(fmt.Sprint("WatchDelivery", i)), Succeeded: 1e12, Failed: 1e9, ThroughputPerSecond: "123456.789",
				Latency: &v1alpha1.LatencySummary{MeanMicroseconds: 3600e6, P50Microseconds: 3600e6, P90Microseconds: 3600e6, P99Microseconds: 3600e6, P999Microseconds: 3600e6, MaxMicroseconds: 3600e6},
			})
		}
	})
	Start(s, 1, now)
	keepWarnings(s, run)
	for _, p := range Plan(s) {
		first := Result(s, p, run)
		again := first
		again.Name += "-r"
		s.Status.Results = append(s.Status.Results, first, again)
	}
	s.Status.Baseline = &v1alpha1.StoredBaseline{Suite: strings.Repeat("n", 63), Schedule: strings.Repeat("s", 63), HistoryRounds: 50}
	for _, c := range Cells(s) {
		v := v1alpha1.StoredValue{
			SuiteValue: v1alpha1.SuiteValue{Value: 3600e6, AtLeast: true, ErrorPerMillion: 100_000, Reason: v1alpha1.ReasonEnvironmentDiffers},
			Rounds:     50, DeviationPerMillion: 1e6, Sessions: 200, SpreadPerMillion: 1e6,
		}
		s.Status.Baseline.Cells = append(s.Status.Baseline.Cells, v1alpha1.StoredCell{Cell: c.Name, Environment: v1alpha1.Environment{Client: "0123456789abcdef", DataInMemory: true, ClientBound: true, AddedPerMillion: 500_000}, Invalid: 100, Values: []v1alpha1.StoredValue{v, v, v, v}})
	}
	Update(s)
	SetFinished(s, false, now)
	if len(s.Status.Results) != 2*v1alpha1.MaxSuiteRuns {
		t.Fatalf("%d results, wanted each run and its repetition", len(s.Status.Results))
	}
	text, err := json.Marshal(s.Status)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(text))
	if len(text) > most {
		t.Errorf("the status has %d bytes, wanted at most %d", len(text), most)
	}
}

// TestStatusOfSearchesHasRoomAtItsMaxima: as many cells as each search can have probes for, each with long texts.
func TestStatusOfSearchesHasRoomAtItsMaxima(t *testing.T) {
	const most = 900 << 10
	long := strings.Repeat("x", 5000)
	for _, maxProbes := range []int32{10, 100} {
		cells := v1alpha1.MaxSuiteRuns / int(maxProbes)
		s := searching(func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Name, s.Spec.Search.MaxProbes = strings.Repeat("n", v1alpha1.MaxSuiteNameLength), maxProbes
			s.Spec.Targets = nil
			for i := range cells {
				s.Spec.Targets = append(s.Spec.Targets, v1alpha1.SuiteTarget{Name: v1alpha1.EntryName(fmt.Sprintf("%020d", i))})
			}
		})
		Start(s, 1, now)
		for range cells * int(maxProbes) {
			p, more := Then(s, false)
			if !more {
				break
			}
			run := highest(1000)(p)
			for i := range run.Status.Objectives {
				run.Status.Objectives[i].Got = long
			}
			r := Result(s, p, run)
			r.Missed = strings.Repeat("x", 64)
			s.Status.Results = append(s.Status.Results, r)
		}
		Update(s)
		SetFinished(s, false, now)
		text, err := json.Marshal(s.Status)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d results, %d bytes", len(s.Status.Results), len(text))
		if len(s.Status.Results) < cells*min(int(maxProbes), 15) || len(text) > most {
			t.Errorf("the status of %d results has %d bytes, wanted at most %d", len(s.Status.Results), len(text), most)
		}
	}
}
