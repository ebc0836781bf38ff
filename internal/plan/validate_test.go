package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// problem is a change to a valid plan and a part of the resulting error. An empty text means that the plan stays valid.
type problem struct {
	change func(*Plan)
	want   string
}

func requireProblems(t *testing.T, problems map[string]problem) {
	t.Helper()
	for name, tc := range problems {
		t.Run(name, func(t *testing.T) {
			p := valid()
			tc.change(&p)
			switch err := p.Validate(); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			case err != nil && strings.Contains(err.Error(), "(0x"):
				t.Errorf("got error %v, wanted values instead of pointers", err)
			}
		})
	}
}

func TestValidateNamesTheField(t *testing.T) {
	requireProblems(t, map[string]problem{
		"transport":        {func(p *Plan) { p.Load.Transport = "Carrier" }, "load.transport"},
		"datastore":        {func(p *Plan) { p.Target.Datastore = "Lake" }, "target.datastore"},
		"members":          {func(p *Plan) { p.Target.Members = "None" }, "target.members"},
		"index too high":   {func(p *Plan) { p.Target.MemberIndex = new(2) }, "target.memberIndex: wanted 0 to 1 for 2 addresses, found 2"},
		"negative index":   {func(p *Plan) { p.Target.MemberIndex = new(-1) }, "target.memberIndex: wanted 0 to 1"},
		"index of leader":  {func(p *Plan) { p.Target.Members, p.Target.MemberIndex = spec.MembersLeader, new(0) }, "target.memberIndex: wanted no value with members"},
		"pods":             {func(p *Plan) { p.Load.Pods = 0 }, "load.pods"},
		"connections":      {func(p *Plan) { p.Load.Connections = 2 }, "load.connections"},
		"clients":          {func(p *Plan) { p.Load.Clients = 99 }, "load.clients"},
		"both bounds":      {func(p *Plan) { p.Load.DurationSeconds = new(int32(1)) }, "plan: load: wanted either requests or durationSeconds"},
		"no bound":         {func(p *Plan) { p.Load.Requests = nil }, "plan: load: wanted either requests or durationSeconds"},
		"too few":          {func(p *Plan) { p.Load.Requests = new(int64(2)) }, "load.requests"},
		"key too short":    {func(p *Plan) { p.Workload.Put.Keys.SizeBytes = 4 }, "keys.sizeBytes"},
		"negative value":   {func(p *Plan) { p.Workload.Put.Values.SizeBytes = -1 }, "values.sizeBytes"},
		"too few samplers": {func(p *Plan) { p.Target.Samplers = make([]string, 1+len(p.Target.Endpoints)) }, "target.samplers"},
		"no endpoint":      {func(p *Plan) { p.Target.Endpoints = nil }, "target.endpoints"},
		"control in name":  {func(p *Plan) { p.Prefix = "a\n/" }, "prefix"},
		"deep prefix":      {func(p *Plan) { p.Prefix = strings.Repeat("p/", 65) }, "prefix"},
		"a key of all":     {func(p *Plan) { p.Workload.Put.Keys.SizeBytes = math.MaxInt32 }, "keys.sizeBytes"},
		"all connections":  {func(p *Plan) { p.Load.Connections, p.Load.Clients = math.MaxInt32, math.MaxInt32 }, "load.connections"},
		"all databases":    {func(p *Plan) { p.Guard.StopOn = &spec.StopRules{DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: -1}} }, "guard.stopOn.databaseSize.maxBytes"},
		"all errors":       {func(p *Plan) { p.Guard.StopOn = &spec.StopRules{ErrorRatio: &spec.ErrorRatioRule{MaxPerMillion: -1}} }, "guard.stopOn.errorRatio.maxPerMillion"},
		"all flushes":      {func(p *Plan) { p.Guard.StopOn = &spec.StopRules{WALFsync: &spec.WALFsyncRule{MaxMeanMicroseconds: -1}} }, "guard.stopOn.walFsync.maxMeanMicroseconds"},
		"no quota":         {func(p *Plan) { p.Guard.MaxFreeQuotaPercent = -1 }, "guard.maxFreeQuotaPercent"},
	})
}

// Plans for ZooKeeper have only settings that ZooKeeper supports.
func TestValidateKnowsWhatZooKeeperCarries(t *testing.T) {
	// The plan of the other tests: puts of Sequential keys.
	zooKeeper := func(change func(*Plan)) func(*Plan) {
		return func(p *Plan) {
			p.Target.Datastore, p.Target.Members, p.Target.TLS, p.Target.Auth = spec.ZooKeeper, spec.MembersAll, nil, nil
			p.Load.Transport, p.Load.WarmupSeconds, p.Disturbances = spec.TransportClient, 0, nil
			p.Workload.Put.Keys.Distribution = spec.Sequential
			p.Load.Requests = &p.Workload.Put.Keys.Count
			change(p)
		}
	}
	requireProblems(t, map[string]problem{
		"each znode once":    {zooKeeper(func(*Plan) {}), ""},
		"a user over TLS":    {zooKeeper(func(p *Plan) { p.Target.Auth, p.Target.TLS = &Auth{Dir: "a"}, &TLS{Dir: "a"} }), ""},
		"a session time-out": {zooKeeper(func(p *Plan) { p.Load.SessionTimeoutSeconds = new(int32(300)) }), ""},
		"a long session":     {zooKeeper(func(p *Plan) { p.Load.SessionTimeoutSeconds = new(int32(301)) }), "load.sessionTimeoutSeconds: wanted 1 to 300"},
		"keys overwritten": {zooKeeper(func(p *Plan) {
			p.Workload.Put.Overwrite, p.Workload.Put.Keys.Distribution, p.Load.WarmupSeconds = true, spec.Uniform, 1
		}), ""},
		"the leader alone":   {zooKeeper(func(p *Plan) { p.Target.Members = spec.MembersLeader }), `target.members: wanted one of ["All"] for ZooKeeper`},
		"another client":     {zooKeeper(func(p *Plan) { p.Load.Transport = spec.TransportFast }), `load.transport: wanted one of ["Client"] for ZooKeeper`},
		"keys written again": {zooKeeper(func(p *Plan) { p.Workload.Put.Keys.Distribution = spec.Uniform }), "keys.distribution: wanted Sequential for ZooKeeper, unless keys are overwritten"},
		"another workload": {zooKeeper(func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadSTM, STM: &spec.STM{Keys: p.Workload.Put.Keys, Values: p.Workload.Put.Values}}
		}), `workload: wanted one of ["Put" "Range" "Mixed" "Delete" "Txn" "Txn CompareAndSwap" "Lock" "Election" "Fetch" "Fetch Blob"] for ZooKeeper`},
		"more requests": {zooKeeper(func(p *Plan) { p.Load.Requests = new(p.Workload.Put.Keys.Count + 1) }), "at most keys.count for ZooKeeper"},
		"a warm-up":     {zooKeeper(func(p *Plan) { p.Load.WarmupSeconds = 1 }), "0 for ZooKeeper"},
		"many nodes":    {zooKeeper(func(p *Plan) { p.Workload.Put.Keys.Count = 10_000_001 }), "at most 10000000 keys, for ZooKeeper"},
		"a large node":  {zooKeeper(func(p *Plan) { p.Workload.Put.Values.SizeBytes = 1_000_001 }), "at most 1000000 for ZooKeeper"},
		"a disturbance": {zooKeeper(func(p *Plan) {
			p.Disturbances = []spec.Disturbance{{Type: spec.DisturbanceDefragment, EverySeconds: 1}}
		}), "disturbances.type"},
	})
}

// Plans for kine have the load of API servers.
func TestValidateKnowsWhatKineCarries(t *testing.T) {
	kine := func(change func(*Plan)) func(*Plan) {
		return func(p *Plan) {
			p.Target.Datastore, p.Target.Members, p.Target.Auth = spec.Kine, spec.MembersAll, nil
			p.Load, p.Disturbances = spec.Load{Transport: spec.TransportClient, Pods: 1, Connections: 1, Clients: 1, Requests: new(int64(10)), RequestTimeoutSeconds: 1}, nil
			p.Workload, p.FirstLease = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Nodes: 50}}, workload.LeaseIDs
			change(p)
		}
	}
	requireProblems(t, map[string]problem{
		"API servers":      {kine(func(*Plan) {}), ""},
		"TLS":              {kine(func(p *Plan) { p.Target.TLS = &TLS{Dir: "a"} }), ""},
		"a user":           {kine(func(p *Plan) { p.Target.Auth = &Auth{Dir: "a"} }), "target.auth: wanted none for Kine"},
		"the leader alone": {kine(func(p *Plan) { p.Target.Members = spec.MembersLeader }), `target.members: wanted one of ["All"] for Kine`},
		"one member alone": {kine(func(p *Plan) { p.Target.MemberIndex = new(0) }), "target.memberIndex: wanted none for Kine"},
		"another workload": {kine(func(p *Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: spec.Keys{Count: 10, SizeBytes: 8, Distribution: spec.Sequential}, Values: spec.Values{SizeBytes: 1}}}
			p.FirstLease = 0
		}), `workload: wanted one of ["Kubernetes"] for Kine`},
		"a disturbance": {kine(func(p *Plan) {
			p.Disturbances = []spec.Disturbance{{Type: spec.DisturbanceDefragment, EverySeconds: 1}}
		}), "disturbances.type"},
	})
}

func TestRatesThatCannotBeRun(t *testing.T) {
	rate := func(r spec.Rate) func(*Plan) {
		return func(p *Plan) { r.Arrival = spec.ArrivalConstant; p.Load.Rate = &r }
	}
	stages := func(stages ...spec.RateStage) func(*Plan) {
		return func(p *Plan) { p.Load.Requests = nil; rate(spec.Rate{Stages: stages})(p) }
	}
	ramp := func(from, to int64) func(*Plan) {
		return func(p *Plan) {
			p.Load.Requests, p.Load.DurationSeconds = nil, new(int32(5))
			rate(spec.Rate{Ramp: &spec.Ramp{FromPerSecond: from, ToPerSecond: to}})(p)
		}
	}
	and := func(change, more func(*Plan)) func(*Plan) { return func(p *Plan) { change(p); more(p) } }
	requireProblems(t, map[string]problem{
		"a rate":                  {and(rate(spec.Rate{PerSecond: 10_000_000}), func(p *Plan) { p.Load.Rate.Arrival = spec.ArrivalPoisson }), ""},
		"a ramp":                  {ramp(0, 100), ""},
		"a ramp down":             {ramp(100, 0), ""},
		"stages with a pause":     {stages(spec.RateStage{PerSecond: 10, Seconds: 2}, spec.RateStage{Seconds: 1}, spec.RateStage{PerSecond: 5, Seconds: 2}), ""},
		"a rate too high":         {rate(spec.Rate{PerSecond: 10_000_001}), "load.rate.perSecond"},
		"a rate below zero":       {rate(spec.Rate{PerSecond: -1}), "load.rate.perSecond"},
		"chance without a rate":   {func(p *Plan) { p.Load.Rate = &spec.Rate{Arrival: spec.ArrivalPoisson} }, "load.rate: wanted one of"},
		"neither chance nor not":  {func(p *Plan) { p.Load.Rate = &spec.Rate{PerSecond: 1, Arrival: "Late"} }, "load.rate.arrival"},
		"stages and a rate":       {and(stages(spec.RateStage{PerSecond: 1, Seconds: 1}), func(p *Plan) { p.Load.Rate.PerSecond = 1 }), "load.rate: wanted one of"},
		"stages and a ramp":       {and(ramp(1, 2), func(p *Plan) { p.Load.Rate.Stages = []spec.RateStage{{PerSecond: 1, Seconds: 1}} }), "load.rate: wanted one of"},
		"stages that do not add":  {and(stages(spec.RateStage{PerSecond: 10, Seconds: 2}), func(p *Plan) { p.Load.DurationSeconds = new(int32(6)) }), "load.durationSeconds"},
		"a ramp over requests":    {and(ramp(1, 2), func(p *Plan) { p.Load.Requests, p.Load.DurationSeconds = new(int64(100)), nil }), "load.requests"},
		"stages without arrivals": {stages(spec.RateStage{Seconds: 2}), "load.rate: wanted a highest rate"},
		"a stage below zero":      {stages(spec.RateStage{PerSecond: 1, Seconds: 1}, spec.RateStage{PerSecond: -1, Seconds: 2}), "load.rate: wanted rates from 0"},
		"a ramp below zero":       {ramp(1, -1), "load.rate: wanted rates from 0"},
		"a stage without time":    {stages(spec.RateStage{PerSecond: 1, Seconds: 1}, spec.RateStage{PerSecond: 1}), "load.rate: wanted rates from 0"},
		"a stage too fast":        {stages(spec.RateStage{PerSecond: 10_000_001, Seconds: 1}), "load.rate: wanted a highest rate"},
		"a ramp too fast":         {ramp(1, 10_000_001), "load.rate: wanted a highest rate"},
	})
}

func TestTheWarmUpKeepsTheFirstRate(t *testing.T) {
	for want, l := range map[int64]spec.Load{
		7: {Rate: &spec.Rate{PerSecond: 7}},
		3: {Rate: &spec.Rate{Stages: []spec.RateStage{{PerSecond: 3, Seconds: 1}, {PerSecond: 8, Seconds: 1}}}},
		5: {Rate: &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 5, ToPerSecond: 9}}},
		0: {},
	} {
		if got := l.WarmupPerSecond(); got != want || l.OpenLoop() != (want > 0) {
			t.Errorf("%+v: warm-up at %d per second, open loop: %v; wanted %d", l, got, l.OpenLoop(), want)
		}
	}
}

func storm(leases, keysPerLease, ttl int64) spec.Disturbance {
	return spec.Disturbance{
		Type: spec.DisturbanceLeaseExpiry, EverySeconds: 10,
		LeaseExpiry: &spec.LeaseExpirySettings{Leases: leases, KeysPerLease: keysPerLease, TTLSeconds: ttl},
	}
}

func TestDisturbancesThatCannotBeMade(t *testing.T) {
	compact, defragment := spec.Disturbance{Type: spec.DisturbanceCompact, EverySeconds: 5, Compact: &spec.CompactSettings{KeepRevisions: 10}}, spec.Disturbance{Type: spec.DisturbanceDefragment, EverySeconds: 1}
	kept := func(d spec.Disturbance, revisions int64) spec.Disturbance {
		d.Compact = &spec.CompactSettings{KeepRevisions: revisions}
		return d
	}
	stormy := compact
	stormy.Compact, stormy.LeaseExpiry = nil, storm(1, 1, 1).LeaseExpiry
	made := func(allowed bool, disturbances ...spec.Disturbance) func(*Plan) {
		return func(p *Plan) {
			if p.Disturbances, p.Guard.AllowStoreWide = disturbances, allowed; p.Storm() != nil {
				p.FirstLease = 3 * workload.LeaseIDs
			}
		}
	}
	requireProblems(t, map[string]problem{
		"none":                         {made(false), ""},
		"both":                         {made(true, compact, defragment), ""},
		"not allowed to compact":       {made(false, compact), "guard.allowStoreWide"},
		"not allowed to defragment":    {made(false, defragment), "guard.allowStoreWide"},
		"twice":                        {made(true, compact, compact), "each type once"},
		"an unknown kind":              {made(true, spec.Disturbance{Type: "Reboot", EverySeconds: 1}), "disturbances.type"},
		"without a pause":              {made(true, spec.Disturbance{Type: spec.DisturbanceCompact}), "disturbances.everySeconds"},
		"negative revisions":           {made(true, kept(compact, -1)), "disturbances.compact"},
		"a storm":                      {made(false, storm(1000, 10, 5)), ""},
		"the greatest storm":           {made(false, storm(100_000, 10, 5)), ""},
		"too great a storm":            {made(false, storm(100_001, 10, 5)), "disturbances.leaseExpiry: wanted 1 to"},
		"a storm without leases":       {made(false, storm(0, 1, 5)), "disturbances.leaseExpiry: wanted 1 to"},
		"a storm without keys":         {made(false, storm(1, 0, 5)), "disturbances.leaseExpiry: wanted 1 to"},
		"a storm without a time":       {made(false, storm(1, 1, 0)), "disturbances.leaseExpiry.ttlSeconds"},
		"no storm":                     {made(false, spec.Disturbance{Type: spec.DisturbanceLeaseExpiry, EverySeconds: 1}), "disturbances.leaseExpiry: wanted a value for type LeaseExpiry only"},
		"a storm of another kind":      {made(true, stormy), "disturbances.leaseExpiry: wanted a value for type LeaseExpiry only"},
		"revisions of a fragmentation": {made(true, kept(defragment, 1)), "disturbances.compact"},
		"a history that is compacted": {func(p *Plan) {
			*p = of(spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{Streams: 4, WatchersPerStream: 5, Events: 8, Keys: someKeys, Values: someValues}}, false)
			made(true, compact)(p)
		}, "no Compact with watchers that read the history"},
	})
}

// With a rule about the target, client pod 0 continues after its share of the requests.
func TestWatchesForOthers(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Plan)
		want   bool
	}{
		"a guard without rules": {func(*Plan) {}, true},
		"one pod":               {func(p *Plan) { p.Load.Pods = 1 }, false},
		"for a time":            {func(p *Plan) { p.Load.Requests, p.Load.DurationSeconds = nil, new(int32(1)) }, false},
		"no rule":               {func(p *Plan) { p.Guard.StopOn = &spec.StopRules{} }, false},
		"a rule of requests":    {func(p *Plan) { p.Guard.StopOn = &spec.StopRules{ErrorRatio: &spec.ErrorRatioRule{}} }, false},
		"a rule of the target":  {func(p *Plan) { p.Guard.StopOn = &spec.StopRules{WALFsync: &spec.WALFsyncRule{}} }, true},
	} {
		p := valid()
		if tc.change(&p); p.WatchesForOthers() != tc.want {
			t.Errorf("%s: %v, wanted %v", name, !tc.want, tc.want)
		}
	}
}
