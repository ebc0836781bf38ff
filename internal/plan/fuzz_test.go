package plan

import (
	"encoding/binary"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// plans returns one plan of each kind.
func plans() []Plan {
	changes := []func(*Plan){
		func(*Plan) {},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
				Consistency: spec.Linearizable, KeysPerRequest: 50, KeysPerPage: new(int64(10)), Delivery: spec.DeliveryPages, KeysOnly: true, Keys: someKeys, Values: someValues,
			}}
			p.Load.Requests, p.Load.DurationSeconds, p.Load.Rate = nil, new(int32(60)), &spec.Rate{PerSecond: 5000, Arrival: spec.ArrivalPoisson}
		},
		func(p *Plan) {
			hot := someKeys
			hot.Distribution, hot.HotSpot = spec.HotSpots, &spec.HotSpot{KeysPerMillion: 10_000, RequestsPerMillion: 900_000}
			p.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{Consistency: spec.Linearizable, ReadPercent: 80, Keys: hot, Values: someValues}}
			p.Load.Transport, p.Load.Requests, p.Load.DurationSeconds = spec.TransportFast, nil, new(int32(30))
			p.Load.Rate = &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 0, ToPerSecond: 100}, Arrival: spec.ArrivalConstant}
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: someKeys, Values: spec.Values{
				SizeBytes: 256, SizeDistribution: spec.SizesUniform, Content: spec.ContentCompressible, RandomPercent: new(int32(50)), MinSizeBytes: new(int32(156)),
			}}}
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnPuts, PutsPerTransaction: new(int32(8)), Keys: someKeys, Values: someValues}}
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadSTM, STM: &spec.STM{
				Isolation: spec.IsolationSerializable, KeysPerTransaction: 4, WritePercent: 50, Locker: spec.LockerRPC, Keys: someKeys, Values: someValues,
			}}
			p.FirstLease = workload.LeaseIDs
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadElection, Election: &spec.Election{Names: 10, LeadMilliseconds: 5}}
			p.FirstLease = workload.LeaseIDs
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadLease, Lease: &spec.Lease{
				Operation: spec.LeaseKeepAlive, TTLSeconds: 60, KeepAlive: &spec.KeepAlive{Leases: 100, Mode: spec.KeepAliveStream},
			}}
			p.FirstLease = 7 * workload.LeaseIDs
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{Scope: spec.WatchScopeKey, Streams: 10, WatchersPerStream: 5, PrevKV: true, Keys: someKeys, Values: someValues}}
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{Streams: 10, WatchersPerStream: 5, Events: 100, Keys: someKeys, Values: someValues}}
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterLarge}}
			p.FirstLease = workload.LeaseIDs
		},
		func(p *Plan) {
			p.Load.Requests, p.Load.DurationSeconds, p.Guard.AllowStoreWide, p.FirstLease = nil, new(int32(60)), true, workload.LeaseIDs
			p.Disturbances = []spec.Disturbance{
				{Type: spec.DisturbanceCompact, EverySeconds: 5, Compact: &spec.CompactSettings{KeepRevisions: 100}}, storm(10, 10, 5),
			}
			p.Guard.StopOn = &spec.StopRules{Alarm: true, ErrorRatio: &spec.ErrorRatioRule{MaxPerMillion: 10, ForSeconds: 5}, WALFsync: &spec.WALFsyncRule{MaxMeanMicroseconds: 500, ForSeconds: 5}}
			p.Target.TLS, p.Target.Auth = &TLS{Dir: TLSDir, SecretName: "certs"}, &Auth{Dir: AuthDir, SecretName: "user"}
		},
		func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadSTM, STM: &spec.STM{
				Isolation: spec.IsolationSerializableSnapshot, KeysPerTransaction: 4, WritePercent: 100, Locker: spec.LockerNone, Keys: someKeys, Values: someValues,
			}}
			p.Load.Requests, p.Load.Rate = nil, &spec.Rate{Stages: []spec.RateStage{{PerSecond: 100, Seconds: 10}, {PerSecond: 5, Seconds: 20}}, Arrival: spec.ArrivalConstant}
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

// FuzzDecode: every decoded plan can be run, and encodes to itself.
func FuzzDecode(f *testing.F) {
	all, examples := plans(), examples()
	for _, kind := range slices.Sorted(maps.Keys(examples)) {
		all = append(all, examples[kind])
	}
	for _, p := range all {
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

// FuzzValidate changes numbers of a plan. Each change is ten bytes: two select the number, eight are its new value.
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

// TestNumbersAtTheirLimits sets each number of each plan to values that could overflow.
func TestNumbersAtTheirLimits(t *testing.T) {
	for i := range plans() {
		for at := 0; ; at++ {
			p := plans()[i]
			numbers := numbersOf(reflect.ValueOf(&p).Elem())
			if at == len(numbers) {
				break
			}
			for _, n := range []int64{0, 1, -1, math.MaxInt16, math.MaxInt32, math.MinInt32, 1 << 62, math.MaxInt64 - 1, math.MinInt64} {
				if numbers[at].SetInt(n); p.Validate() == nil {
					requireRunnable(t, p)
				}
			}
		}
	}
}

// numbersOf are all integers within a value, in the order of their fields.
func numbersOf(v reflect.Value) (numbers []reflect.Value) {
	switch v.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
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

// requireRunnable calls all methods of a valid plan that a client pod calls.
func requireRunnable(t *testing.T, p Plan) {
	t.Helper()
	data, err := p.Encode()
	if err != nil {
		t.Fatalf("a valid plan cannot be encoded: %v", err)
	}
	if len(data) <= MaxBytes {
		again, err := Decode(data)
		if diff := cmp.Diff(p, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("the plan changes when it is written: %v (-read +written):\n%s", err, diff)
		}
	}
	requireParts(t, p)
	estimate, _ := p.WriteEstimate()
	rules := p.Guard.Rules()
	ratio, flushes := deref(rules.ErrorRatio), deref(rules.WALFsync)
	for what, n := range map[string]int64{
		"write estimate": estimate, "keys of a storm": p.StormKeys(), "leases": p.LeaseCount(), "drain": int64(p.DrainLimit()),
		"interval": int64(p.Target.SampleInterval()), "warm-up": int64(p.Load.Warmup()), "duration": int64(p.Load.Duration()),
		"guard": int64(ratio.For() + flushes.For() + flushes.MaxMean()),
	} {
		if n < 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
	if p.Contends() && p.ContestKey(int(p.Load.Clients-1)) == "" {
		t.Error("the last client has no key")
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// requireParts checks that the parts of all pods add up to the plan.
func requireParts(t *testing.T, p Plan) {
	t.Helper()
	connections, requests := 0, int64(0)
	for i := range p.Pods() {
		part, err := p.Part(i)
		if err != nil {
			t.Fatal(err)
		}
		if part.Connections < 1 || part.FirstConnection != connections || part.Requests < 0 {
			t.Fatalf("part %d is %+v", i, part)
		}
		connections, requests = connections+part.Connections, requests+part.Requests
		if own := part.ClientsOn(part.FirstConnection); own < 1 || own > int(p.Load.Clients) {
			t.Fatalf("a connection of part %d has %d clients of %d", i, own, p.Load.Clients)
		}
	}
	if connections != int(p.Load.Connections) || requests != p.Load.RequestBound() {
		t.Fatalf("parts have %d connections and %d requests of %+v", connections, requests, p.Load)
	}
}
