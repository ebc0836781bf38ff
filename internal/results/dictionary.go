package results

import (
	"strconv"
	"time"
)

// terminationDictionary is a typical message before compression. Both ends know
// it, so what a message has in common with it (names, labels, structure) costs
// next to nothing, and almost all of the room is left to the histograms. It
// follows from families: it changes with them, and then the number in
// terminationMark must change too.
var terminationDictionary = marshalNative(typicalSnapshot())

// typicalLatency is 2^-9 s: its square is exact, and so the dictionary is the
// same on processors that round a multiplication and an addition once or twice.
const typicalLatency = 1953125 * time.Nanosecond

func typicalSnapshot() *Snapshot {
	at := time.Unix(1_800_000_000, 0)
	return &Snapshot{
		RunUID: "00000000-0000-4000-8000-000000000000", Index: 0, Transport: "ClientV3",
		Stage: StageDone, Cleaning: CleaningKeysDeleted, KeyBytes: 27,
		Failure: &Failure{Reason: FailureTargetUnreachable, Message: "connection refused"},
		Omitted: []string{"target", "latency", "service time", "lateness", "latency of failed requests"},
		Window: Window{
			StartAt: at, Skew: time.Millisecond, Start: at, End: at, LastResponse: at,
			Planned: time.Minute, PlannedRequests: 1000,
		},
		Operations: map[Operation]*OperationResult{OperationPut: typicalResult(), OperationRange: typicalResult()},
		Watch:      Watch{Watchers: 100, Expected: 1000, Missed: 1, Duplicate: 1, Cancelled: 1, Resumed: 1, Replays: 1, CompactedAfter: time.Second},
		Started:    1000,
		Timeline:   typicalTimeline(),
		Disturbances: map[DisturbanceKind]*Disturbance{
			DisturbanceCompact:    typicalDisturbance(),
			DisturbanceDefragment: typicalDisturbance(),
		},
		Requests: typicalRequests(),
		Target:   typicalTarget(),
		Process:  typicalProcess(),
	}
}

func typicalDisturbance() *Disturbance {
	d := &Disturbance{LeftOut: 1}
	d.Record(Mark{After: time.Second, Took: typicalLatency, Member: "0000000000000000"}, "context deadline exceeded")
	return d
}

func typicalProcess() *ProcessWindow {
	w := &ProcessWindow{Figures: map[ProcessFigure]float64{}, Unknown: "its control group could not be read"}
	for _, f := range processFigures {
		w.Figures[f] = 1
	}
	return w
}

func typicalTimeline() Timeline {
	t := Timeline{Interval: timelineInterval}
	for range maxMessagePoints {
		t.Points = append(t.Points, Point{Succeeded: 1000, Failed: 1, Latency: time.Second, Longest: 100 * time.Millisecond})
	}
	return t
}

func typicalResult() *OperationResult {
	r := &OperationResult{
		Errors: map[string]uint64{"DeadlineExceeded": 1, "ResourceExhausted": 1, "Unavailable": 1},
		Lost:   1, Attempts: 4,
	}
	for _, h := range r.all() {
		for range len(r.Errors) {
			h.Record(int64(typicalLatency))
		}
	}
	return r
}

func typicalRequests() map[RPC]map[Phase]uint64 {
	requests := map[RPC]map[Phase]uint64{}
	for _, rpc := range []RPC{RPCPut, RPCRange} {
		requests[rpc] = map[Phase]uint64{PhasePreload: 1, PhaseWarmup: 1, PhaseMeasured: 1, PhaseControl: 1}
	}
	for _, rpc := range []RPC{RPCDeleteRange, RPCTxn, RPCStatus, RPCMemberList, RPCAlarm, RPCCompact, RPCDefragment} {
		requests[rpc] = map[Phase]uint64{PhaseControl: 1}
	}
	return requests
}

func typicalTarget() *Target {
	target := &Target{ClusterID: "0000000000000000", WriteEstimateBytes: 1 << 20}
	for i := range 3 {
		name := "etcd-" + strconv.Itoa(i)
		target.Members = append(target.Members, Member{
			ID: "000000000000000" + strconv.Itoa(i), Name: name, Endpoint: name + ".etcd.default.svc:2379",
			Version: "3.7.3", Leader: i == 0, DatabaseBytes: 1 << 20, QuotaBytes: 2 << 30, ResidentMemoryBytes: 100 << 20,
			Window: typicalWindow(),
		})
	}
	return target
}

// typicalWindow has every figure, at the lowest bound of etcd's own histograms.
func typicalWindow() *MemberWindow {
	w := &MemberWindow{Figures: map[Figure]float64{}, Unknown: "its metrics could not be read"}
	for _, f := range allFigures() {
		w.Figures[f] = 0.001
	}
	return w
}
