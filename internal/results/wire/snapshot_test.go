package wire

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// sameSnapshot compares snapshots as far as both forms carry them.
var sameSnapshot = []cmp.Option{cmpopts.EquateEmpty()}

var testStart = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// finalSnapshot is a pod that has sent n requests of each operation.
func finalSnapshot(index, n int, operations ...spec.Operation) *results.Snapshot {
	r := rand.New(rand.NewPCG(7, uint64(index)))
	s := &results.Snapshot{
		RunUID: "8f6c6b52-1234-4abc-8def-0123456789ab", Index: index, Transport: spec.TransportClient,
		Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted, KeyBytes: 27,
		Window: results.Window{
			StartAt: testStart, Skew: time.Duration(index+1) * 1234567, Start: testStart.Add(2 * time.Second),
			End: testStart.Add(12 * time.Second), LastResponse: testStart.Add(12*time.Second + 31*time.Millisecond),
			Planned: 10 * time.Second,
		},
		Operations: map[spec.Operation]*results.OperationResult{},
		Process: &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{
			results.ProcessWindowSeconds: 10, results.ProcessCPUSeconds: 13.171875, results.ProcessProcessors: 2, results.ProcessThrottledSeconds: 0,
			results.ProcessGoroutineDelaySeconds: 100e-6, results.ProcessThreadDelaySeconds: 0x1.5p-13, results.ProcessCollectionRatio: 0.02,
		}},
		Requests: map[spec.RPC]map[results.Phase]uint64{
			spec.RPCTxn: {results.PhaseControl: 3}, spec.RPCDeleteRange: {results.PhaseControl: 34}, spec.RPCStatus: {results.PhaseControl: 3}, spec.RPCMemberList: {results.PhaseControl: 1},
		},
	}
	for _, operation := range operations {
		s.Operations[operation] = typicalLoad(r, n)
		s.Requests[spec.RPC(operation)] = map[results.Phase]uint64{results.PhaseWarmup: 977, results.PhaseMeasured: uint64(n)}
	}
	s.Timeline = randomTimeline(r, 10*time.Second, n)
	if index == 0 {
		s.Target = randomTarget(r, 3)
	}
	return s
}

func randomTimeline(r *rand.Rand, length time.Duration, n int) (t results.Timeline) {
	for range n {
		t.Record(time.Duration(r.Int64N(int64(length))), time.Duration(r.Int64N(1e8)), r.IntN(10) > 0)
	}
	return t
}

// typicalLoad has the distribution of a busy cluster.
func typicalLoad(r *rand.Rand, n int) *results.OperationResult {
	result := &results.OperationResult{Errors: map[string]uint64{}}
	for range n {
		service := int64(20e6 * math.Exp(0.4*r.NormFloat64()))
		result.Service.Record(service)
		result.Latency.Record(service + int64(1e5*r.ExpFloat64()))
		result.CompletedInWindow++
	}
	return result
}

func randomTarget(r *rand.Rand, members int) *results.Target {
	target := &results.Target{ClusterID: fmt.Sprintf("%016x", r.Uint64())}
	for i := range members {
		name := fmt.Sprintf("etcd-%02d", i)
		target.Members = append(target.Members, results.Member{
			ID: fmt.Sprintf("%016x", r.Uint64()), Name: name, Endpoint: name + ".etcd.demo.svc:2379", Version: "3.7.3",
			Leader: i == 1, DatabaseBytes: r.Int64N(1 << 33), ResidentMemoryBytes: r.Int64N(1 << 33), QuotaBytes: 2 << 30,
		})
	}
	return target
}

// withFigures gives each member the figures of a busy window of ten seconds, in their encoded precision.
func withFigures(r *rand.Rand, target *results.Target) *results.Target {
	for i := range target.Members {
		w := &results.MemberWindow{Figures: map[results.Figure]float64{results.FigureLeaderChanges: 0, results.FigureSlowApplies: 0, results.FigureFailedProposals: 0}}
		for _, t := range []results.Timer{results.TimerWALFsync, results.TimerBackendCommit, results.TimerPeerRoundTrip, results.TimerApply} {
			w.Figures[t.Count()] = float64(r.IntN(50_000))
			w.Figures[t.Seconds()] = math.Round(10*r.Float64()*(1<<20)) / (1 << 20)
			w.Figures[t.P99Above()], w.Figures[t.P99AtMost()] = 0.016, 0.032
		}
		for _, f := range []results.Figure{results.FigureSampledSeconds, results.FigureSampleLagSeconds, results.FigureCPUSeconds} {
			w.Figures[f] = math.Round(10*r.Float64()*(1<<20)) / (1 << 20)
		}
		for _, f := range []results.Figure{results.FigureMemoryBytes, results.FigureDatabaseStartBytes, results.FigureDatabaseEndBytes} {
			w.Figures[f] = float64(r.IntN(1<<20) << 12)
		}
		for _, f := range []results.Figure{results.FigureClientReceivedBytes, results.FigureClientSentBytes, results.FigurePeerReceivedBytes, results.FigurePeerSentBytes} {
			w.Figures[f] = float64(r.IntN(1 << 30))
		}
		target.Members[i].Window = w
	}
	return target
}

// randomSnapshot sets random fields to random valid values.
func randomSnapshot(seed uint64) *results.Snapshot {
	r := rand.New(rand.NewPCG(8, seed))
	s := &results.Snapshot{
		RunUID: fmt.Sprintf("%x", r.Uint64()), Index: r.IntN(100), Transport: []spec.Transport{spec.TransportClient, spec.TransportFast}[r.IntN(2)],
		Stage: results.Stages[r.IntN(len(results.Stages))], Cleaning: cleanings[r.IntN(len(cleanings))], Stopped: r.IntN(2) == 0, CoarsePacing: r.IntN(2) == 0,
		KeyBytes: r.IntN(200), Started: r.Uint64N(1 << 47), Resent: r.Uint64N(3), Sessions: results.Sessions{Cuts: r.Uint64N(3), LongestCut: time.Duration(r.Int64N(1 << 40)), Timeout: time.Duration(r.Int64N(1 << 40))}, Bodies: results.Bodies{Sent: r.Uint64N(1 << 47), Received: r.Uint64N(3)}, Window: randomWindow(r),
		Operations: map[spec.Operation]*results.OperationResult{}, Requests: map[spec.RPC]map[results.Phase]uint64{},
	}
	if r.IntN(2) == 0 {
		s.Burst = results.Burst{Values: r.Uint64N(1 << 47), Wire: results.Bodies{Sent: r.Uint64N(3), Received: r.Uint64N(1 << 47)}}
		s.Burst.Timeouts[r.IntN(results.TimeoutBuckets)] = r.Uint64N(1 << 47)
		s.Burst.Unavailable = s.Burst.Tasks() / 2
	}
	for _, operation := range spec.AllOperations()[:r.IntN(3)] {
		s.Operations[operation] = randomResult(r)
	}
	for _, rpc := range []spec.RPC{spec.RPCPut, spec.RPCRange, spec.RPCTxn, spec.RPCStatus}[:r.IntN(5)] {
		s.Requests[rpc] = map[results.Phase]uint64{phases[r.IntN(4)]: r.Uint64N(1 << 47), phases[r.IntN(4)]: 0}
	}
	if r.IntN(2) == 0 {
		s.Failure = &results.Failure{Reason: results.FailureTLSFailed, Message: `certificate "etcd" ≠ name, C:\ {a="b"}`}
	}
	if r.IntN(2) == 0 {
		s.Target = randomTarget(r, r.IntN(6))
		s.Target.WriteEstimateBytes = r.Int64N(1 << 40)
	}
	if s.Target != nil && r.IntN(2) == 0 {
		withFigures(r, s.Target)
		for i := range s.Target.Members {
			if r.IntN(3) == 0 {
				s.Target.Members[i].Window = &results.MemberWindow{Unknown: "its metrics could not be read: 404"}
			}
		}
	}
	for _, kind := range disturbanceTypes[:r.IntN(len(disturbanceTypes)+1)] {
		for range 1 + r.IntN(2*results.MaxMarks) {
			s.Disturbance(kind).Record(randomMark(r), []string{"", "it took too long"}[r.IntN(2)])
			s.Disturbance(kind).LeftOut += r.Uint64N(3)
		}
	}
	randomGuard(r, s)
	if r.IntN(2) == 0 {
		s.Process = randomProcess(r)
	}
	if r.IntN(2) == 0 {
		s.Work = results.Work{Done: r.Uint64N(1 << 40), Total: r.Uint64N(1 << 40), Since: time.UnixMicro(r.Int64N(1e15)).UTC()}
	}
	s.Timeline = randomTimeline(r, time.Duration(1+r.Int64N(1e12)), r.IntN(3)*r.IntN(300))
	if r.IntN(2) == 0 {
		s.Watch = randomWatch(r)
	}
	if r.IntN(4) == 0 {
		s.Omitted = []string{"lateness", "target"}
	}
	return s
}

func randomMark(r *rand.Rand) results.Mark {
	return results.Mark{
		After: time.Duration(r.Int64N(1e12)), Took: time.Duration(1 + r.Int64N(1e10)),
		Member: []string{"", "8e9e05c52164694d"}[r.IntN(2)],
	}
}

// randomProcess has figures in their encoded precision; some are missing.
func randomProcess(r *rand.Rand) *results.ProcessWindow {
	w := &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{}}
	for _, f := range results.ProcessFigures[r.IntN(2):] {
		w.Figures[f] = math.Round(10*r.Float64()*(1<<20)) / (1 << 20)
	}
	if r.IntN(2) == 0 {
		w.Unknown = "its control group could not be read: no such file"
	}
	return w
}

func randomWindow(r *rand.Rand) results.Window {
	at := func() time.Time {
		if r.IntN(3) == 0 {
			return time.Time{}
		}
		return testStart.Add(time.Duration(r.Int64N(1e12)) * time.Microsecond)
	}
	return results.Window{
		StartAt: at(), Start: at(), End: at(), LastResponse: at(),
		Skew: time.Duration(r.Int64N(1e10)), Planned: time.Duration(r.Int64N(600)) * time.Second, PlannedRequests: r.Uint64N(1 << 40),
	}
}

func randomResult(r *rand.Rand) *results.OperationResult {
	result := &results.OperationResult{Errors: map[string]uint64{}}
	for _, h := range result.Histograms() {
		for range r.IntN(3) * r.IntN(300) {
			h.Record(int64(math.Exp2(45 * r.Float64())))
		}
		if r.IntN(3) == 0 {
			h.Reduce(r.IntN(results.MaxSchema + 1))
		}
	}
	for left := result.Failed.Count(); left > 0; {
		n := 1 + r.Uint64N(left)
		code := fmt.Sprintf("Code(%d)", len(result.Errors)%20)
		result.Errors[code] += n
		result.Examples.Add(code, []string{"", "etcdserver: \"request\" is too large, C:\\", strings.Repeat("é\n", 200)}[r.IntN(3)])
		left -= n
	}
	result.CompletedInWindow = r.Uint64N(result.Latency.Count() + 1)
	result.Lost = r.Uint64N(result.Latency.Count() + 1)
	if r.IntN(2) == 0 {
		result.Attempts = result.Latency.Count() * (1 + r.Uint64N(5))
	}
	return result
}
