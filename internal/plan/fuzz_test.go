package plan

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// plans are one of each kind.
func plans() []Plan {
	changes := []func(*Plan){
		func(*Plan) {},
		func(p *Plan) {
			p.Workload.Type, p.Workload.Interval = WorkloadRange, Interval{Keys: 50, PageKeys: 10, KeysOnly: true}
			p.Load.Requests, p.Load.DurationSeconds, p.Load.RatePerSecond, p.Load.Poisson = 0, 60, 5000, true
		},
		func(p *Plan) {
			p.Workload.Type, p.Workload.ReadsPerHundred, p.Load.Transport = WorkloadMixed, 80, TransportFast
			p.Load.Requests, p.Load.DurationSeconds, p.Load.Stages = 0, 30, []Stage{{0, 100, 10}, {100, 0, 20}}
			p.Workload.KeyOrder, p.Workload.Demand = KeyOrderHotSpot, Demand{HotKeysPerThousand: 10, HotRequestsPerThousand: 900}
		},
		func(p *Plan) {
			p.Workload.Type, p.Workload.Values = WorkloadDelete, Values{ZeroPercent: 50, Spread: 100}
		},
		func(p *Plan) { p.Workload.Type, p.Workload.Txn = WorkloadTxn, &Txn{Puts: 8} },
		func(p *Plan) {
			p.Workload.Type, p.Workload.STM = WorkloadSTM, &STM{IsolationSerializable, 4, 50, LockerRPC}
			p.FirstLease = LeaseIDs
		},
		func(p *Plan) {
			p.Workload = Workload{Type: WorkloadElection, Contest: &Contest{Names: 10, HoldMilliseconds: 5}}
			p.FirstLease = LeaseIDs
		},
		func(p *Plan) {
			p.Workload = Workload{Type: WorkloadLease, Lease: &Lease{Operation: LeaseKeepAlive, TTLSeconds: 60, Count: 100, Stream: true}}
			p.FirstLease = 7 * LeaseIDs
		},
		func(p *Plan) {
			p.Workload.Type, p.Workload.Watch = WorkloadWatch, &Watch{Streams: 10, WatchersPerStream: 5, PrevKV: true}
		},
		func(p *Plan) {
			p.Workload.Type, p.Workload.WatchGet, p.Workload.Serializable = WorkloadWatchGet, &WatchGet{Streams: 10, WatchersPerStream: 5, Events: 100}, true
		},
		func(p *Plan) {
			minute := KubernetesMinute{LeaseUpdates: 600, PodCreates: 10, PodUpdates: 40, Events: 100, ListsBy500: 2, ListsBy10000: 1}
			p.Workload = Workload{Type: WorkloadKubernetes, ValueSize: 4000, Kubernetes: &Kubernetes{Nodes: 1000, Pods: 3000, PerMinute: minute, LeaseBytes: 400, PodBytes: 4000, EventBytes: 900}}
			p.FirstLease = LeaseIDs
		},
		func(p *Plan) {
			p.Load.Requests, p.Load.DurationSeconds, p.Guard.AllowStoreWide, p.FirstLease = 0, 60, true, LeaseIDs
			p.Disturbances = []Disturbance{
				{Kind: DisturbanceCompact, EverySeconds: 5, KeepRevisions: 100},
				{Kind: DisturbanceLeaseExpiry, EverySeconds: 9, Storm: &Storm{Leases: 10, KeysPerLease: 10, TTLSeconds: 5}},
			}
			p.Guard.StopOn = StopRules{Alarm: true, ErrorRatio: ErrorRatioRule{10, 5}, WALFsync: WALFsyncRule{500, 5}}
			p.Target.TLS, p.Target.Auth = &TLS{Dir: TLSDir, SecretName: "certs"}, &Auth{Dir: AuthDir, SecretName: "user"}
		},
	}
	var all []Plan
	for _, change := range changes {
		p := valid()
		change(&p)
		all = append(all, p)
	}
	return all
}

// FuzzDecode: whatever decodes is a plan that can be run, and encodes to itself.
func FuzzDecode(f *testing.F) {
	for _, p := range plans() {
		data, err := p.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := Decode(data); err == nil {
			requireRunnable(t, p)
		}
	})
}

// FuzzValidate sets numbers of a plan to any others: each number is two bytes for
// which it is and eight for what it becomes.
func FuzzValidate(f *testing.F) {
	for i := range plans() {
		for _, n := range []uint64{0, 1, math.MaxInt64, math.MaxUint64, 1 << 62} {
			f.Add(uint8(i), binary.LittleEndian.AppendUint64([]byte{byte(n), 0}, n))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, program []byte) {
		all := plans()
		p := all[int(which)%len(all)]
		numbers := numbersOf(reflect.ValueOf(&p).Elem())
		for ; len(program) >= 10; program = program[10:] {
			at := int(binary.LittleEndian.Uint16(program)) % len(numbers)
			numbers[at].SetInt(int64(binary.LittleEndian.Uint64(program[2:])))
		}
		if p.Validate() == nil {
			requireRunnable(t, p)
		}
	})
}

// numbersOf are all integers within a value, in the order of their fields.
func numbersOf(v reflect.Value) (numbers []reflect.Value) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return []reflect.Value{v}
	case reflect.Pointer:
		if !v.IsNil() {
			return numbersOf(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			numbers = append(numbers, numbersOf(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			numbers = append(numbers, numbersOf(v.Field(i))...)
		}
	}
	return numbers
}

// requireRunnable asks a valid plan for all that a client pod asks it.
func requireRunnable(t *testing.T, p Plan) {
	t.Helper()
	data, err := p.Encode()
	if err != nil {
		t.Fatalf("a valid plan can not be encoded: %v", err)
	}
	if len(data) <= MaxBytes {
		again, err := Decode(data)
		if diff := cmp.Diff(p, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("the plan changes when it is written: %v (-read +written):\n%s", err, diff)
		}
	}
	requireParts(t, p)
	estimate, _ := p.WriteEstimate()
	for what, n := range map[string]int64{
		"write estimate": estimate, "keys of a storm": p.StormKeys(), "leases": p.LeaseCount(), "drain": int64(p.DrainLimit()),
		"interval": int64(p.Target.SampleInterval()), "warm-up": int64(p.Load.Warmup()), "duration": int64(p.Load.Duration()),
		"guard": int64(p.Guard.StopOn.ErrorRatio.For() + p.Guard.StopOn.WALFsync.For() + p.Guard.StopOn.WALFsync.MaxMean()),
	} {
		if n < 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
	if p.Workload.isContest() && p.ContestKey(p.Load.Clients-1) == "" {
		t.Error("the last client has no key")
	}
}

// requireParts adds up what pods get; of many pods, the first and the last are
// looked at.
func requireParts(t *testing.T, p Plan) {
	t.Helper()
	connections, requests := 0, int64(0)
	for i := range p.Pods {
		part, err := p.Part(i)
		if err != nil {
			t.Fatal(err)
		}
		if part.Connections < 1 || part.FirstConnection != connections || part.Requests < 0 {
			t.Fatalf("part %d is %+v", i, part)
		}
		connections, requests = connections+part.Connections, requests+part.Requests
		if own := part.ClientsOn(part.FirstConnection); own < 1 || own > p.Load.Clients {
			t.Fatalf("a connection of part %d has %d clients of %d", i, own, p.Load.Clients)
		}
	}
	if connections != p.Load.Connections || requests != p.Load.Requests {
		t.Fatalf("parts have %d connections and %d requests of %+v", connections, requests, p.Load)
	}
}
