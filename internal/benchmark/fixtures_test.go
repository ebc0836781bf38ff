package benchmark

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// putRun is a run of 1,000 puts by two pods, as the API server returns it.
func putRun(change ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	b := &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etcd", Name: "puts", UID: "11112222-3333-4444-5555-666677778888", Generation: 1},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target: v1alpha1.Target{Endpoints: []string{"10.0.0.1:2379"}, Members: v1alpha1.MembersAll},
			Workload: v1alpha1.Workload{
				Type: v1alpha1.WorkloadPut,
				Put: &v1alpha1.PutWorkload{
					KeySize: 8, ValueSize: 256,
					Keys: v1alpha1.KeySpace{Count: 1000, Order: v1alpha1.KeyOrderSequential},
				},
			},
			Load: v1alpha1.Load{
				Transport: v1alpha1.TransportClientV3, Pods: 2, Connections: 4, Clients: 10,
				Requests: new(int64(1000)), RequestTimeoutSeconds: 10, Seed: 1,
			},
			TimeoutSeconds: 600,
		},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

func withObjectives(objectives ...v1alpha1.Objective) func(*v1alpha1.EtcdBenchmark) {
	return func(b *v1alpha1.EtcdBenchmark) { b.Spec.Objectives = objectives }
}

func maxLatency(statistic v1alpha1.LatencyStatistic, micros int64) v1alpha1.Objective {
	return v1alpha1.Objective{
		Name: "latency", Type: v1alpha1.ObjectiveLatency,
		Latency: &v1alpha1.LatencyObjective{Operation: v1alpha1.OperationPut, Statistic: statistic, MaxMicroseconds: micros},
	}
}

func minThroughput(perSecond int64) v1alpha1.Objective {
	return v1alpha1.Objective{
		Name: "rate", Type: v1alpha1.ObjectiveThroughput,
		Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: perSecond},
	}
}

func maxErrors(perMillion int64) v1alpha1.Objective {
	return v1alpha1.Objective{
		Name: "errors", Type: v1alpha1.ObjectiveErrorRatio,
		ErrorRatio: &v1alpha1.ErrorRatioObjective{MaxPerMillion: perMillion},
	}
}

// windowStart is when the measured windows of all test snapshots start.
var windowStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// measured is what one pod counts: this many puts, one after the other, whose
// latencies are 1 ms, 2 ms, … in a window of a second.
func measured(index, puts int, change ...func(*results.Snapshot)) *results.Snapshot {
	op := &results.OperationResult{Errors: map[string]uint64{}, CompletedInWindow: uint64(puts)}
	for i := range puts {
		latency := time.Duration(i+1) * time.Millisecond
		op.Latency.Record(latency.Nanoseconds())
		op.Service.Record(latency.Nanoseconds())
	}
	s := &results.Snapshot{
		RunUID: "11112222-3333-4444-5555-666677778888", Index: index, Transport: "ClientV3",
		Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted,
		Window: results.Window{
			StartAt: windowStart, Start: windowStart, End: windowStart.Add(time.Second),
			LastResponse: windowStart.Add(time.Second), PlannedRequests: uint64(puts),
		},
		Operations: map[results.Operation]*results.OperationResult{results.OperationPut: op},
		Requests: map[results.RPC]map[results.Phase]uint64{
			results.RPCPut: {results.PhaseMeasured: uint64(puts), results.PhaseWarmup: 7},
			results.RPCTxn: {results.PhaseControl: 3},
		},
		KeyBytes: 26,
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// failing adds failed puts of this latency.
func failing(n int, code string, latency time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		op := s.Operations[results.OperationPut]
		for range n {
			op.Failed.Record(latency.Nanoseconds())
		}
		op.Errors[code] += uint64(n)
	}
}

// cutOff adds puts that had waited this long when the run ended.
func cutOff(n int, waited time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		for range n {
			s.Operations[results.OperationPut].Censored.Record(waited.Nanoseconds())
		}
	}
}

// late adds what so many puts were late by.
func late(n int, by time.Duration) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		for range n {
			s.Operations[results.OperationPut].Lateness.Record(by.Nanoseconds())
		}
	}
}

// atStage has the pod still on its way.
func atStage(stage results.Stage) func(*results.Snapshot) {
	return func(s *results.Snapshot) { s.Stage = stage }
}
