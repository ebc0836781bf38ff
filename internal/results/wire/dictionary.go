package wire

import (
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// terminationDictionary is a typical message before compression. Both ends have it, so names, labels and structure that
// a message shares with it take almost no room, and most of the room is left to the histograms. It is derived from
// families: when they change, the number in terminationMark must change too.
var terminationDictionary = marshalNative(typicalSnapshot())

// typicalLatency is 2^-9 s. Its square is exact, so the dictionary is the same on processors that round a fused
// multiply-add differently.
const typicalLatency = 1953125 * time.Nanosecond

func typicalSnapshot() *results.Snapshot {
	at := time.Unix(1_800_000_000, 0)
	return &results.Snapshot{
		RunUID: "00000000-0000-4000-8000-000000000000", Index: 0, Transport: spec.TransportClient,
		Stage: results.StageDone, Cleaning: results.CleaningKeysDeleted, KeyBytes: 27,
		Failure: &results.Failure{Reason: results.FailureTargetUnreachable, Message: "connection refused"},
		Omitted: []string{"target", "latency", "net latency", "service time", "lateness", "wait for a free client", "latency of failed requests"},
		Window: results.Window{
			StartAt: at, Skew: time.Millisecond, Start: at, End: at, LastResponse: at,
			Planned: time.Minute, PlannedRequests: 1000,
		},
		Operations: map[spec.Operation]*results.OperationResult{spec.OperationPut: typicalResult(), spec.OperationRange: typicalResult()},
		Watch:      results.Watch{Watchers: 100, Expected: 1000, Missed: 1, Duplicate: 1, Cancelled: 1, Resumed: 1, Replays: 1, CompactedAfter: time.Second},
		Burst:      results.Burst{Timeouts: [results.TimeoutBuckets]uint64{1000, 1, 1}, Values: 1, Unavailable: 1, Wire: results.Bodies{Sent: 1, Received: 1}},
		Started:    1000,
		Arrivals:   results.Arrivals{Lacking: 1, Skipped: 1, Bunched: 1, Busy: time.Second},
		Pauses:     results.Pauses{Count: 1, Total: time.Second},
		Course:     results.Course{Timeline: typicalTimeline()},
		Disturbances: map[spec.DisturbanceType]*results.Disturbance{
			spec.DisturbanceCompact:    typicalDisturbance(),
			spec.DisturbanceDefragment: typicalDisturbance(),
		},
		Requests: typicalRequests(),
		Target:   typicalTarget(),
		Process:  typicalProcess(),
	}
}

func typicalDisturbance() *results.Disturbance {
	d := &results.Disturbance{LeftOut: 1}
	d.Record(results.Mark{After: time.Second, Took: typicalLatency, Member: "0000000000000000"}, "context deadline exceeded")
	return d
}

func typicalProcess() *results.ProcessWindow {
	w := &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{}, Unknown: "its control group could not be read",
		Machine: results.Machine{Processor: "Intel(R) Xeon(R) CPU @ 2.60GHz", Kernel: "6.1.0-18-amd64", MemoryBytes: 16 << 30}}
	for _, f := range results.ProcessFigures {
		w.Figures[f] = 1
	}
	return w
}

func typicalTimeline() results.Timeline {
	t := results.Timeline{Interval: results.TimelineInterval}
	for range maxMessagePoints {
		t.Points = append(t.Points, results.Point{Succeeded: 1000, Failed: 1, Latency: time.Second, Longest: 100 * time.Millisecond, Paused: time.Second, Opened: 1, Closed: 1})
	}
	return t
}

func typicalResult() *results.OperationResult {
	r := &results.OperationResult{
		Errors: map[string]uint64{"DeadlineExceeded": 1, "ResourceExhausted": 1, "Unavailable": 1},
		Examples: results.Examples{
			"DeadlineExceeded": "context deadline exceeded", "InvalidArgument": "etcdserver: request is too large",
			"ResourceExhausted": "etcdserver: mvcc: database space exceeded", "Unavailable": "etcdserver: request timed out",
		},
		Lost: 1, Attempts: 4,
	}
	for _, h := range r.Histograms() {
		for range len(r.Errors) {
			h.Record(int64(typicalLatency))
		}
	}
	return r
}

func typicalRequests() map[spec.RPC]map[results.Phase]uint64 {
	requests := map[spec.RPC]map[results.Phase]uint64{}
	for _, rpc := range []spec.RPC{spec.RPCPut, spec.RPCRange} {
		requests[rpc] = map[results.Phase]uint64{results.PhasePreload: 1, results.PhaseWarmup: 1, results.PhaseMeasured: 1, results.PhaseControl: 1}
	}
	for _, rpc := range []spec.RPC{spec.RPCDeleteRange, spec.RPCTxn, spec.RPCStatus, spec.RPCMemberList, spec.RPCAlarm, spec.RPCCompact, spec.RPCDefragment,
		spec.RPCLeaseGrant, spec.RPCLeaseTimeToLive, spec.RPCLeaseKeepAlive, spec.RPCLeaseRevoke} {
		requests[rpc] = map[results.Phase]uint64{results.PhaseControl: 1}
	}
	return requests
}

func typicalTarget() *results.Target {
	target := &results.Target{ClusterID: "0000000000000000", WriteEstimateBytes: 1 << 20}
	for i := range 3 {
		name := "etcd-" + strconv.Itoa(i)
		target.Members = append(target.Members, results.Member{
			ID: "000000000000000" + strconv.Itoa(i), Name: name, Endpoint: name + ".etcd.default.svc:2379",
			Version: "3.7.3", Leader: i == 0, DatabaseBytes: 1 << 20, QuotaBytes: 2 << 30, ResidentMemoryBytes: 100 << 20,
			Window: typicalWindow(),
		})
	}
	return target
}

// typicalWindow has every figure, at the lowest bound of etcd's own histograms.
func typicalWindow() *results.MemberWindow {
	w := &results.MemberWindow{Figures: map[results.Figure]float64{}, Unknown: "its metrics could not be read"}
	for _, f := range results.AllFigures() {
		w.Figures[f] = 0.001
	}
	return w
}
