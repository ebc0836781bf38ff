//go:build guard

package guard

import (
	"math/rand"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var began = time.Unix(1_700_000_000, 0).UTC()

// snapshotOf makes up what a pod could have measured, by the plan's seed alone.
func snapshotOf(p plan.Plan, index int) *results.Snapshot {
	random := rand.New(rand.NewSource(int64(index) + 7))
	s := &results.Snapshot{
		RunUID: p.RunUID, Index: index, Transport: p.Load.Transport, Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted,
		Clock: began.Add(70 * time.Second), KeyBytes: workload.New(p).KeyBytes(),
		Window: results.Window{
			StartAt: began, Skew: time.Duration(index) * time.Millisecond, Start: began.Add(time.Second), End: began.Add(61 * time.Second),
			LastResponse: began.Add(61 * time.Second), Planned: p.Load.Duration(), PlannedRequests: uint64(p.Load.Requests),
		},
		Operations: map[results.Operation]*results.OperationResult{},
		Requests: map[results.RPC]map[results.Phase]uint64{
			results.RPCPut:   {results.PhasePreload: 10, results.PhaseWarmup: 20, results.PhaseMeasured: 3000, results.PhaseControl: 4},
			results.RPCRange: {results.PhaseMeasured: 1000, results.PhaseControl: 44}, results.RPCTxn: {results.PhaseControl: 3},
		},
		Process: &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{
			results.ProcessWindowSeconds: 60, results.ProcessCPUSeconds: 12, results.ProcessProcessors: 2, results.ProcessThrottledSeconds: 0,
			results.ProcessGoroutineDelaySeconds: 0.0002, results.ProcessThreadDelaySeconds: 0.00001, results.ProcessCollectionRatio: 0.04,
		}},
	}
	for _, operation := range workload.New(p).Operations() {
		s.Operations[operation] = operationOf(random, p, operation, &s.Timeline)
		s.Started += 3010
	}
	if p.Workload.Watch != nil || p.Workload.WatchGet != nil || p.Workload.Kubernetes != nil {
		s.Watch = results.Watch{Watchers: 100, Expected: 3000, Missed: 3, Duplicate: 1, Cancelled: 2, Resumed: 1}
	}
	for _, d := range p.Disturbances {
		done := &results.Disturbance{}
		for i := range 4 {
			done.Record(results.Mark{After: time.Duration(10+10*i) * time.Second, Took: time.Duration(i+1) * 30 * time.Millisecond}, "")
		}
		if index == 0 {
			if s.Disturbances == nil {
				s.Disturbances = map[results.DisturbanceKind]*results.Disturbance{}
			}
			s.Disturbances[results.DisturbanceKind(d.Kind)] = done
		}
	}
	if index == 0 {
		s.Target = target()
	}
	return s
}

func operationOf(random *rand.Rand, p plan.Plan, operation results.Operation, timeline *results.Timeline) *results.OperationResult {
	var latency, service, lateness, failed, censored results.Recorder
	for i := range 3000 {
		ns := int64(random.ExpFloat64()*8e6) + 200_000
		latency.Record(ns)
		service.Record(ns - 100_000)
		if p.Load.OpenLoop() {
			lateness.Record(100_000)
		}
		timeline.Record(time.Duration(i)*20*time.Millisecond, time.Duration(ns), true)
	}
	for range 7 {
		failed.Record(10e6)
	}
	censored.Record(20e6)
	out := &results.OperationResult{Errors: map[string]uint64{"Unavailable": 5, "DeadlineExceeded": 2}, CompletedInWindow: 2990}
	latency.AddTo(&out.Latency)
	service.AddTo(&out.Service)
	lateness.AddTo(&out.Lateness)
	failed.AddTo(&out.Failed)
	censored.AddTo(&out.Censored)
	switch operation {
	case results.OperationCompareAndSwap, results.OperationOptimisticPut:
		out.Lost = 17
	case results.OperationSTM:
		out.Attempts = 3033
	}
	return out
}

func target() *results.Target {
	t := &results.Target{ClusterID: "cdf818194e3a8c32", WriteEstimateBytes: 1 << 20}
	for i, name := range []string{"a", "b", "c"} {
		t.Members = append(t.Members, results.Member{
			ID: "8e9e05c52164694" + name, Name: name, Endpoint: "127.0.0.1:2379", Version: "3.6.8", Leader: i == 0, DatabaseBytes: 20 << 20, QuotaBytes: 2 << 30,
			ResidentMemoryBytes: int64(50+i) << 20,
			Window: &results.MemberWindow{Figures: map[results.Figure]float64{
				results.FigureSampledSeconds: 60, results.FigureSampleLagSeconds: 0.01, results.FigureLeaderChanges: 0, results.FigureSlowApplies: 1,
				results.FigureSlowReadIndexes: 0, results.FigureFailedProposals: 0, results.FigurePendingProposals: 3, results.FigureCPUSeconds: 66, results.FigureProcessors: 2,
				results.FigureMemoryBytes: 60 << 20, results.FigureDatabaseStartBytes: 20 << 20, results.FigureDatabaseEndBytes: 29 << 20,
				results.FigureClientReceivedBytes: 1 << 20, results.FigureClientSentBytes: 2 << 20, results.FigurePeerReceivedBytes: 3 << 20, results.FigurePeerSentBytes: 4 << 20,
				results.TimerWALFsync.Count(): 900, results.TimerWALFsync.Seconds(): 0.9 * float64(i+1), results.TimerWALFsync.P99Above(): 0.002, results.TimerWALFsync.P99AtMost(): 0.004,
				results.TimerBackendCommit.Count(): 600, results.TimerBackendCommit.Seconds(): 1.9, results.TimerBackendCommit.P99Above(): 0.004, results.TimerBackendCommit.P99AtMost(): 0.008,
				results.TimerPeerRoundTrip.Count(): 4, results.TimerPeerRoundTrip.Seconds(): 0.003,
				results.TimerApply.Count(): 3000, results.TimerApply.Seconds(): 0.2,
			}},
		})
	}
	return t
}
