package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameSnapshot compares snapshots as both roads carry them.
var sameSnapshot = []cmp.Option{cmpopts.EquateEmpty()}

var testStart = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// finalSnapshot is of a pod that has sent n requests of each operation.
func finalSnapshot(index, n int, operations ...Operation) *Snapshot {
	r := rand.New(rand.NewPCG(7, uint64(index)))
	s := &Snapshot{
		RunUID: "8f6c6b52-1234-4abc-8def-0123456789ab", Index: index, Transport: "ClientV3",
		Stage: StageDone, Cleaning: CleaningKeysDeleted, KeyBytes: 27,
		Window: Window{
			StartAt: testStart, Skew: time.Duration(index+1) * 1234567, Start: testStart.Add(2 * time.Second),
			End: testStart.Add(12 * time.Second), LastResponse: testStart.Add(12*time.Second + 31*time.Millisecond),
			Planned: 10 * time.Second,
		},
		Operations: map[Operation]*OperationResult{},
		Process:    idle(with(ProcessCPUSeconds, 13.171875), with(ProcessThreadDelaySeconds, 0x1.5p-13)),
		Requests: map[RPC]map[Phase]uint64{
			RPCTxn: {PhaseControl: 3}, RPCDeleteRange: {PhaseControl: 34}, RPCStatus: {PhaseControl: 3}, RPCMemberList: {PhaseControl: 1},
		},
	}
	for _, operation := range operations {
		s.Operations[operation] = typicalLoad(r, n)
		s.Requests[RPC(operation)] = map[Phase]uint64{PhaseWarmup: 977, PhaseMeasured: uint64(n)}
	}
	s.Timeline = randomTimeline(r, 10*time.Second, n)
	if index == 0 {
		s.Target = randomTarget(r, 3)
	}
	return s
}

func randomTimeline(r *rand.Rand, length time.Duration, n int) (t Timeline) {
	for range n {
		t.Record(time.Duration(r.Int64N(int64(length))), time.Duration(r.Int64N(1e8)), r.IntN(10) > 0)
	}
	return t
}

// typicalLoad has the shape that a busy cluster gives.
func typicalLoad(r *rand.Rand, n int) *OperationResult {
	result := &OperationResult{Errors: map[string]uint64{}}
	for range n {
		service := int64(20e6 * math.Exp(0.4*r.NormFloat64()))
		result.Service.Record(service)
		result.Latency.Record(service + int64(1e5*r.ExpFloat64()))
		result.CompletedInWindow++
	}
	return result
}

func randomTarget(r *rand.Rand, members int) *Target {
	target := &Target{ClusterID: fmt.Sprintf("%016x", r.Uint64())}
	for i := range members {
		name := fmt.Sprintf("etcd-%02d", i)
		target.Members = append(target.Members, Member{
			ID: fmt.Sprintf("%016x", r.Uint64()), Name: name, Endpoint: name + ".etcd.demo.svc:2379", Version: "3.7.3",
			Leader: i == 1, DatabaseBytes: r.Int64N(1 << 33), ResidentMemoryBytes: r.Int64N(1 << 33), QuotaBytes: 2 << 30,
		})
	}
	return target
}

// withFigures gives each member the figures that it would have after a busy
// window of ten seconds, in the precision in which they are kept.
func withFigures(r *rand.Rand, target *Target) *Target {
	for i := range target.Members {
		w := &MemberWindow{Figures: map[Figure]float64{FigureLeaderChanges: 0, FigureSlowApplies: 0, FigureFailedProposals: 0}}
		for _, t := range timers {
			w.Figures[t.Count()] = float64(r.IntN(50_000))
			w.Figures[t.Seconds()] = math.Round(10*r.Float64()*(1<<20)) / (1 << 20)
			w.Figures[t.P99Above()], w.Figures[t.P99AtMost()] = 0.016, 0.032
		}
		for _, f := range []Figure{FigureSampledSeconds, FigureSampleLagSeconds, FigureCPUSeconds} {
			w.Figures[f] = math.Round(10*r.Float64()*(1<<20)) / (1 << 20)
		}
		for _, f := range []Figure{FigureMemoryBytes, FigureDatabaseStartBytes, FigureDatabaseEndBytes} {
			w.Figures[f] = float64(r.IntN(1<<20) << 12)
		}
		for _, f := range []Figure{FigureClientReceivedBytes, FigureClientSentBytes, FigurePeerReceivedBytes, FigurePeerSentBytes} {
			w.Figures[f] = float64(r.IntN(1 << 30))
		}
		target.Members[i].Window = w
	}
	return target
}

// randomSnapshot has any fields set or not, with any values that are allowed.
func randomSnapshot(seed uint64) *Snapshot {
	r := rand.New(rand.NewPCG(8, seed))
	s := &Snapshot{
		RunUID: fmt.Sprintf("%x", r.Uint64()), Index: r.IntN(100), Transport: []string{"ClientV3", "Fast"}[r.IntN(2)],
		Stage: stages[r.IntN(len(stages))], Cleaning: cleanings[r.IntN(len(cleanings))], Stopped: r.IntN(2) == 0, CoarsePacing: r.IntN(2) == 0,
		KeyBytes: r.IntN(200), Started: r.Uint64N(1 << 47), Window: randomWindow(r),
		Operations: map[Operation]*OperationResult{}, Requests: map[RPC]map[Phase]uint64{},
	}
	for _, operation := range operations[:r.IntN(3)] {
		s.Operations[operation] = randomResult(r)
	}
	for _, rpc := range []RPC{RPCPut, RPCRange, RPCTxn, RPCStatus}[:r.IntN(5)] {
		s.Requests[rpc] = map[Phase]uint64{phases[r.IntN(4)]: r.Uint64N(1 << 47), phases[r.IntN(4)]: 0}
	}
	if r.IntN(2) == 0 {
		s.Failure = &Failure{Reason: FailureTLSFailed, Message: `certificate "etcd" ≠ name, C:\ {a="b"}`}
	}
	if r.IntN(2) == 0 {
		s.Target = randomTarget(r, r.IntN(6))
		s.Target.WriteEstimateBytes = r.Int64N(1 << 40)
	}
	if s.Target != nil && r.IntN(2) == 0 {
		withFigures(r, s.Target)
		for i := range s.Target.Members {
			if r.IntN(3) == 0 {
				s.Target.Members[i].Window = &MemberWindow{Unknown: "its metrics could not be read: 404"}
			}
		}
	}
	for _, kind := range disturbanceKinds[:r.IntN(len(disturbanceKinds)+1)] {
		for range 1 + r.IntN(2*MaxMarks) {
			s.disturbance(kind).Record(randomMark(r), []string{"", "it took too long"}[r.IntN(2)])
			s.disturbance(kind).LeftOut += r.Uint64N(3)
		}
	}
	randomGuard(r, s)
	if r.IntN(2) == 0 {
		s.Process = randomProcess(r)
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

func randomMark(r *rand.Rand) Mark {
	return Mark{
		After: time.Duration(r.Int64N(1e12)), Took: time.Duration(1 + r.Int64N(1e10)),
		Member: []string{"", "8e9e05c52164694d"}[r.IntN(2)],
	}
}

// randomProcess has figures in the precision in which they are kept; some are
// not known.
func randomProcess(r *rand.Rand) *ProcessWindow {
	w := &ProcessWindow{Figures: map[ProcessFigure]float64{}}
	for _, f := range processFigures[r.IntN(2):] {
		w.Figures[f] = math.Round(10*r.Float64()*(1<<20)) / (1 << 20)
	}
	if r.IntN(2) == 0 {
		w.Unknown = "its control group could not be read: no such file"
	}
	return w
}

func randomWindow(r *rand.Rand) Window {
	at := func() time.Time {
		if r.IntN(3) == 0 {
			return time.Time{}
		}
		return testStart.Add(time.Duration(r.Int64N(1e12)) * time.Microsecond)
	}
	return Window{
		StartAt: at(), Start: at(), End: at(), LastResponse: at(),
		Skew: time.Duration(r.Int64N(1e10)), Planned: time.Duration(r.Int64N(600)) * time.Second, PlannedRequests: r.Uint64N(1 << 40),
	}
}

func randomResult(r *rand.Rand) *OperationResult {
	result := &OperationResult{Errors: map[string]uint64{}}
	for _, h := range result.all() {
		for range r.IntN(3) * r.IntN(300) {
			h.Record(int64(math.Exp2(45 * r.Float64())))
		}
		if r.IntN(3) == 0 {
			h.Reduce(r.IntN(MaxSchema + 1))
		}
	}
	for left := result.Failed.Count(); left > 0; {
		n := 1 + r.Uint64N(left)
		result.Errors[fmt.Sprintf("Code(%d)", len(result.Errors)%20)] += n
		left -= n
	}
	result.CompletedInWindow = r.Uint64N(result.Latency.Count() + 1)
	result.Lost = r.Uint64N(result.Latency.Count() + 1)
	if r.IntN(2) == 0 {
		result.Attempts = result.Latency.Count() * (1 + r.Uint64N(5))
	}
	return result
}
