package plan

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// examples has a plan of each type of workload. The golden plans are their encodings. Change an example only to add new
// fields of the format.
func examples() map[spec.WorkloadType]Plan {
	closed := spec.Load{
		Transport: spec.TransportClient, Pods: 3, Connections: 12, Clients: 48, Requests: new(int64(90_000)), RequestTimeoutSeconds: 7, Seed: 42,
	}
	timed := closed
	timed.Requests, timed.DurationSeconds, timed.WarmupSeconds = nil, new(int32(300)), 30
	open := func(l spec.Load, r spec.Rate) spec.Load { l.Rate = &r; return l }
	staged := timed
	staged.DurationSeconds = nil

	burst := closed
	burst.Requests = new(int64(burst.Clients))

	all := map[spec.WorkloadType]Plan{}
	for _, p := range []Plan{
		example(open(timed, spec.Rate{PerSecond: 5000, Arrival: spec.ArrivalPoisson}), spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
			Overwrite: true,
			Keys:      spec.Keys{Count: 1_000_000, SizeBytes: 32, Distribution: spec.ZipfLaw, Zipf: &spec.Zipf{Exponent: "0.99"}},
			Values:    spec.Values{SizeBytes: 65_536, Content: spec.ContentCompressible, RandomPercent: new(int32(40)), MinSizeBytes: new(int32(64)), SizeDistribution: spec.SizesLogUniform},
		}}),
		example(open(timed, spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 100, ToPerSecond: 9000}, Arrival: spec.ArrivalConstant}), spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
			// A limit of 0 means no limit. Pages must not have a limit.
			Consistency: spec.Serializable, KeysPerRequest: 500, Limit: new(int64), Delivery: spec.DeliveryPages, KeysPerPage: new(int64(50)), KeysOnly: true,
			Keys: keysOf(10_000, spec.Sequential), Values: valuesOf(1024),
		}}),
		example(open(staged, spec.Rate{Stages: []spec.RateStage{{PerSecond: 200, Seconds: 60}, {Seconds: 5}, {PerSecond: 900, Seconds: 120}}, Arrival: spec.ArrivalConstant}), spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
			ReadPercent: 75, InTransaction: true, ReadLimit: new(int64(90)), Consistency: spec.Linearizable, Values: valuesOf(256),
			Keys: spec.Keys{Count: 10_000, SizeBytes: 16, Distribution: spec.HotSpots, HotSpot: &spec.HotSpot{KeysPerMillion: 200_000, RequestsPerMillion: 800_000}},
		}}),
		onZooKeeper(alone(example(closed, spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: keysOf(100_000, spec.Uniform), Values: valuesOf(512)}}))),
		example(closed, spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{
			Mode: spec.TxnPuts, PutsPerTransaction: new(int32(16)), Overwrite: true, Keys: keysOf(10_000, spec.Uniform), Values: valuesOf(128),
		}}),
		example(timed, spec.Workload{Type: spec.WorkloadSTM, STM: &spec.STM{
			Isolation: spec.IsolationRepeatableReads, KeysPerTransaction: 4, WritePercent: 50, Locker: spec.LockerClient, Keys: keysOf(1000, spec.Uniform), Values: valuesOf(64),
		}}),
		example(timed, spec.Workload{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 6, HoldMilliseconds: 25}}),
		example(timed, spec.Workload{Type: spec.WorkloadElection, Election: &spec.Election{Names: 4, LeadMilliseconds: 35}}),
		example(timed, spec.Workload{Type: spec.WorkloadLease, Lease: &spec.Lease{
			Operation: spec.LeaseKeepAlive, TTLSeconds: 1800, KeepAlive: &spec.KeepAlive{Mode: spec.KeepAliveStream, Leases: 5000},
		}}),
		example(timed, spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{
			Streams: 9, WatchersPerStream: 11, Connections: 6, Scope: spec.WatchScopeAllKeys, PrevKV: true, Keys: keysOf(100, spec.Sequential), Values: valuesOf(200),
		}}),
		example(timed, spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{
			Streams: 9, WatchersPerStream: 100, Connections: 3, Events: 80, Keys: keysOf(1000, spec.Uniform), Values: valuesOf(300),
		}}),
		example(burst, spec.Workload{Type: spec.WorkloadFetch, Fetch: &spec.Fetch{
			Layout: spec.LayoutTree, ParametersPerProcess: 200, ParameterBytes: 120, Parameters: spec.ParametersOwn, Consistency: spec.Serializable,
			Connect: spec.ConnectBefore, RampSeconds: 3, TimeoutMilliseconds: 250, Attempts: 7,
		}}),
		onDisk(example(closed, spec.Workload{Type: spec.WorkloadAppend, Append: &spec.Append{EntryBytes: 2300}})),
		observing(example(timed, spec.Workload{Type: spec.WorkloadObserve})),
		// The API accepts one of the two. A plan with both takes the number of nodes.
		example(closed, spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterMedium, Nodes: 700}}),
	} {
		all[p.Workload.Type] = p
	}
	return all
}

// alone is a plan that loads one member.
func alone(p Plan) Plan {
	p.Target.Members, p.Target.MemberIndex = spec.MembersAll, new(2)
	return p
}

// observing is a plan of one client that changes nothing.
func observing(p Plan) Plan {
	p.Disturbances, p.FirstLease = nil, 0
	p.Load.Pods, p.Load.Connections, p.Load.Clients, p.Load.WarmupSeconds = 1, 1, 1, 0
	return p
}

// onZooKeeper is a plan for a ZooKeeper, whose connections have sessions.
func onZooKeeper(p Plan) Plan {
	p.Target.Datastore, p.Disturbances, p.FirstLease, p.Load.SessionTimeoutSeconds = spec.ZooKeeper, nil, 0, new(int32(45))
	p.Guard.StopOn.DatabaseSize, p.Guard.StopOn.WALFsync = nil, nil
	return p
}

func keysOf(count int64, d spec.Distribution) spec.Keys {
	return spec.Keys{Count: count, SizeBytes: 8, Distribution: d}
}

func valuesOf(size int32) spec.Values {
	return spec.Values{SizeBytes: size, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform}
}

// example is a plan in which all fields that do not depend on load and workload are set.
func example(l spec.Load, w spec.Workload) Plan {
	p := Plan{
		Version: Version, RunUID: "0b6c6b52-0000-4000-8000-000000000000", Name: "etcd/nightly", Lock: &Lock{WaitSeconds: 300}, Ephemeral: true, TimeoutSeconds: 7200,
		Run: workload.Run{Prefix: "etcdbench/0b6c6b52/", FirstLease: 5 * workload.LeaseIDs, Workload: w, Load: l, Disturbances: []spec.Disturbance{
			{Type: spec.DisturbanceDefragment, EverySeconds: 120},
			{Type: spec.DisturbanceLeaseExpiry, EverySeconds: 90, LeaseExpiry: &spec.LeaseExpirySettings{Leases: 1000, KeysPerLease: 10, TTLSeconds: 5}},
		}},
		Target: Target{
			Datastore: spec.Etcd, Endpoints: []string{"etcd-0.etcd:2379", "etcd-1.etcd:2379", "[fd00::7]:2379"}, Members: spec.MembersFollowers, UnreachableMembers: spec.UnreachableSkip, SampleIntervalSeconds: 15,
			Samplers: []string{"etcd-0.etcd:2381", "etcd-1.etcd:2381", "[fd00::7]:2381"},
			TLS:      &TLS{Dir: TLSDir, SecretName: "etcd-client", ServerName: "etcd.example.org"},
			Auth:     &Auth{Dir: AuthDir, SecretName: "etcd-user"},
		},
		Guard: spec.Guard{
			MaxFreeQuotaPercent: 80, AcceptWrites: true, AcknowledgeControlPlane: true, AllowStoreWide: true,
			StopOn: &spec.StopRules{
				Alarm: true, LeaderChange: true, DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 6 << 30},
				ErrorRatio: &spec.ErrorRatioRule{MaxPerMillion: 5000, ForSeconds: 20}, WALFsync: &spec.WALFsyncRule{MaxMeanMicroseconds: 25_000, ForSeconds: 30},
			},
		},
	}
	if !p.ReplaysHistory() {
		p.Disturbances = append(p.Disturbances, spec.Disturbance{Type: spec.DisturbanceCompact, EverySeconds: 60, Compact: &spec.CompactSettings{KeepRevisions: 10_000}})
	}
	return p
}

// onDisk is a plan for a folder of each pod.
func onDisk(p Plan) Plan {
	p = onZooKeeper(p)
	p.Target.Datastore, p.Target.Dir, p.Target.Endpoints, p.Target.Samplers, p.Target.Members, p.Target.TLS, p.Target.Auth = spec.Disk, DiskDir, nil, nil, spec.MembersAll, nil, nil
	p.Load.Transport, p.Load.SessionTimeoutSeconds, p.Load.Connections, p.Load.Clients, p.Prefix, p.Guard.StopOn.LeaderChange = spec.TransportClient, nil, p.Load.Pods, p.Load.Pods, "", false
	return p
}
