// Package runtest makes runs, and the reports of their client pods, for tests.
//
// It imports the API and internal/results, and only tests import it. A run has all its defaults, and a pod's numbers
// are round.
package runtest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// uid is the UID of every run.
const uid = "11112222-3333-4444-5555-666677778888"

// Puts is a run of 1,000 puts by two pods, with all defaults.
func Puts(change ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	b := &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "puts", UID: uid, Generation: 1},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target: v1alpha1.Target{Datastore: spec.Etcd, Endpoints: []string{"10.0.0.1:2379"}, Members: spec.MembersAll},
			Workload: spec.Workload{
				Type: spec.WorkloadPut,
				Put: &spec.Put{
					Keys:   spec.Keys{Count: 1000, SizeBytes: 8, Distribution: spec.Sequential},
					Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256},
				},
			},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 2, Connections: 4, Clients: 10,
				Requests: new(int64(1000)), RequestTimeoutSeconds: 10, Seed: 1,
			},
			SchedulingTimeoutSeconds: 300, TimeoutSeconds: 600,
		},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

// Objectives sets the objectives of a run.
func Objectives(objectives ...v1alpha1.Objective) func(*v1alpha1.EtcdBenchmark) {
	return func(b *v1alpha1.EtcdBenchmark) { b.Spec.Objectives = objectives }
}

// MaxLatency is an objective of puts.
func MaxLatency(statistic spec.Statistic, micros int64) v1alpha1.Objective {
	return v1alpha1.Objective{
		Name: "latency", Type: spec.ObjectiveLatency,
		Latency: &v1alpha1.LatencyObjective{Operation: spec.OperationPut, Statistic: statistic, MaxMicroseconds: micros},
	}
}

// MinThroughput is an objective of all requests.
func MinThroughput(perSecond int64) v1alpha1.Objective {
	return v1alpha1.Objective{
		Name: "rate", Type: spec.ObjectiveThroughput,
		Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: perSecond},
	}
}

// MaxErrors is an objective of all requests.
func MaxErrors(perMillion int64) v1alpha1.Objective {
	return v1alpha1.Objective{
		Name: "errors", Type: spec.ObjectiveErrorRatio,
		ErrorRatio: &v1alpha1.ErrorRatioObjective{MaxPerMillion: perMillion},
	}
}

// MaxFsync is an objective on the log flushes of each member.
func MaxFsync(statistic v1alpha1.MemberStatistic, micros int64) v1alpha1.Objective {
	return v1alpha1.Objective{Type: spec.ObjectiveWALFsync, WALFsync: &v1alpha1.MemberDurationObjective{Statistic: statistic, MaxMicroseconds: micros}}
}

// MaxCount is an objective on a counter of each member.
func MaxCount(kind spec.ObjectiveType, highest int64) v1alpha1.Objective {
	limit := &v1alpha1.MemberCountObjective{Max: highest}
	o := v1alpha1.Objective{Type: kind}
	switch kind {
	case spec.ObjectiveLeaderChanges:
		o.LeaderChanges = limit
	case spec.ObjectiveSlowApplies:
		o.SlowApplies = limit
	default:
		o.FailedProposals = limit
	}
	return o
}

// MaxGrowth is an objective on the database of each member.
func MaxGrowth(bytes int64) v1alpha1.Objective {
	return v1alpha1.Objective{Type: spec.ObjectiveDatabaseGrowth, DatabaseGrowth: &v1alpha1.MemberBytesObjective{MaxBytes: bytes}}
}

// WindowStart is the start of every pod's measured window.
var WindowStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Measured is the report of one pod: this many puts with latencies of 1 ms, 2 ms, … in a window of a second.
func Measured(index, puts int, change ...func(*results.Snapshot)) *results.Snapshot {
	op := &results.OperationResult{Errors: map[string]uint64{}, CompletedInWindow: uint64(puts)}
	for i := range puts {
		latency := time.Duration(i+1) * time.Millisecond
		op.Latency.Record(latency.Nanoseconds())
		op.Service.Record(latency.Nanoseconds())
	}
	s := &results.Snapshot{
		RunUID: uid, Index: index, Transport: spec.TransportClient,
		Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted,
		Window: results.Window{
			StartAt: WindowStart, Start: WindowStart, End: WindowStart.Add(time.Second),
			LastResponse: WindowStart.Add(time.Second), PlannedRequests: uint64(puts),
		},
		Operations: map[spec.Operation]*results.OperationResult{spec.OperationPut: op},
		Requests: map[spec.RPC]map[results.Phase]uint64{
			spec.RPCPut: {results.PhaseMeasured: uint64(puts), results.PhaseWarmup: 7},
			spec.RPCTxn: {results.PhaseControl: 3},
		},
		Started:  uint64(puts),
		KeyBytes: 26,
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// Failing adds failed puts of this latency.
func Failing(n int, code string, latency time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		op := s.Operations[spec.OperationPut]
		for range n {
			op.Failed.Record(latency.Nanoseconds())
		}
		op.Errors[code] += uint64(n)
	}
}

// CutOff adds puts that were unanswered after this time when the run ended.
func CutOff(n int, waited time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		for range n {
			s.Operations[spec.OperationPut].Censored.Record(waited.Nanoseconds())
		}
	}
}

// Late adds n puts that were sent late by this time.
func Late(n int, by time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		for range n {
			s.Operations[spec.OperationPut].Lateness.Record(by.Nanoseconds())
		}
	}
}

// Events adds watchers that saw the event of each put after its latency, except for the missed ones.
func Events(missed int) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		event := &results.OperationResult{Errors: map[string]uint64{}}
		puts := int(s.Operations[spec.OperationPut].Latency.Count())
		for i := range puts - missed {
			event.Latency.Record((time.Duration(i+1) * time.Millisecond).Nanoseconds())
		}
		for range missed {
			event.Failed.Record(time.Second.Nanoseconds())
			event.Errors[results.ErrorMissed]++
		}
		s.Operations[spec.OperationWatchEvent] = event
		s.Watch = results.Watch{Watchers: 1, Expected: uint64(puts), Missed: uint64(missed), Duplicate: 2, Cancelled: 3, Resumed: 4, Replays: 9}
	}
}

// Throttled adds the CPU figures of a pod's process for a second, of which it was throttled for this long.
func Throttled(seconds float64) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		s.Process = &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{
			results.ProcessWindowSeconds: 1, results.ProcessCPUSeconds: 0.75, results.ProcessProcessors: 2,
			results.ProcessQuotaProcessors: 1, results.ProcessThrottledSeconds: seconds,
			results.ProcessGoroutineDelaySeconds: 0.000125, results.ProcessThreadDelaySeconds: 0.00005,
			results.ProcessGoroutineDelayTotalSeconds: 0.00045, results.ProcessThreadWakeups: 200,
			results.ProcessGoroutineWakeups: 400, results.ProcessCollectionRatio: 0.03,
		}}
	}
}

// Told adds these members' windows to a pod's report, the leader's first.
func Told(windows ...*results.MemberWindow) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		s.Target = &results.Target{ClusterID: "c"}
		for i, w := range windows {
			name := string(rune('a' + i))
			s.Target.Members = append(s.Target.Members, results.Member{ID: name, Name: "etcd-" + name, Leader: i == 0, Window: w})
		}
	}
}

// Flushed is a member's window of ten seconds with this many log flushes of 2 ms each, and a 99th percentile between 4
// and 8 ms.
func Flushed(times float64, change ...func(map[results.Figure]float64)) *results.MemberWindow {
	f := map[results.Figure]float64{
		results.FigureSampledSeconds: 10, results.FigureSampleLagSeconds: 0.01,
		results.TimerWALFsync.Count(): times, results.TimerWALFsync.Seconds(): times * 0.002,
		results.TimerWALFsync.P99Above(): 0.004, results.TimerWALFsync.P99AtMost(): 0.008,
		results.TimerWALFsync.Estimate(spec.StatisticP50): 0.0015, results.TimerWALFsync.Estimate(spec.StatisticP90): 0.003, results.TimerWALFsync.Estimate(spec.StatisticP99): 0.0075,
		results.FigureLeaderChanges: 1, results.FigureSlowApplies: 0, results.FigureFailedProposals: 3,
		results.FigureCPUSeconds: 15, results.FigureProcessors: 2, results.FigureMemoryBytes: 1 << 30,
		results.FigureDatabaseStartBytes: 5000, results.FigureDatabaseEndBytes: 7000,
	}
	for _, c := range change {
		c(f)
	}
	return &results.MemberWindow{Figures: f}
}

// Sampled adds the figures that only a sampler of the member's process has.
func Sampled(f map[results.Figure]float64) {
	f[results.FigureCPUHighest], f[results.FigureStorageReadBytes], f[results.FigureStorageWrittenBytes] = 1.875, 0, 3e9
	f[results.FigurePodReceivedBytes], f[results.FigurePodSentBytes] = 4e6, 5e6
}

// Without removes a figure.
func Without(f results.Figure) func(map[results.Figure]float64) {
	return func(all map[results.Figure]float64) { delete(all, f) }
}

// Disturbed adds compactions and defragmentations to a run.
func Disturbed(b *v1alpha1.EtcdBenchmark) {
	b.Spec.Guard = &spec.Guard{AllowStoreWide: true}
	b.Spec.Disturbances = []spec.Disturbance{
		{Type: spec.DisturbanceCompact, EverySeconds: 3, Compact: &spec.CompactSettings{KeepRevisions: 0}},
		{Type: spec.DisturbanceDefragment, EverySeconds: 4},
	}
}

// Compacted are compactions of 2 s each. One failed, and three were skipped.
func Compacted(at ...time.Duration) map[spec.DisturbanceType]*results.Disturbance {
	d := &results.Disturbance{}
	for _, after := range at {
		d.Record(results.Mark{After: after, Took: 2 * time.Second}, "")
	}
	d.Problem, d.Failed, d.LeftOut = "no leader", 1, 3
	return map[spec.DisturbanceType]*results.Disturbance{spec.DisturbanceCompact: d}
}
