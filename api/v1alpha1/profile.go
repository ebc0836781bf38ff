package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// profileSeconds is how long a profile loads its target.
const profileSeconds = 60

// profiles have the puts per second and the clients of etcdctl check perf.
// Each client has its own connection.
var profiles = map[Profile]struct {
	perSecond int64
	clients   int32
}{
	ProfileSmall:  {150, 50},
	ProfileMedium: {1_000, 200},
	ProfileLarge:  {8_000, 500},
	ProfileXLarge: {15_000, 1_000},
}

// Resolved returns what the run does and what its result must reach: the fields of its spec, or those that its profile
// or its number of nodes sets. What is already resolved in status stays, even if another version of the operator would
// derive something else.
func (b *EtcdBenchmark) Resolved() Resolved {
	switch {
	case !b.Spec.IsDerived():
		return Resolved{Workload: b.Spec.Workload, Load: b.Spec.Load.For(b.Spec.Workload), Objectives: b.Spec.Objectives}
	case b.Status.Resolved != nil:
		return *b.Status.Resolved
	case b.Spec.Kubernetes != nil:
		return b.Spec.Kubernetes.resolve()
	}
	return b.Spec.Profile.resolve()
}

// IsDerived reports whether a field of the spec sets workload, load and objectives.
func (s *EtcdBenchmarkSpec) IsDerived() bool { return s.Profile != "" || s.Kubernetes != nil }

// KeepResolved writes into status what the run does. Later calls change nothing.
func (b *EtcdBenchmark) KeepResolved() {
	if b.Status.Resolved == nil {
		r := b.Resolved()
		b.Status.Resolved = r.DeepCopy()
	}
}

func (p Profile) resolve() Resolved {
	size := profiles[p]
	seconds := int32(profileSeconds)
	return Resolved{
		Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
			// Each put writes a key of its own.
			Keys:   spec.Keys{Count: max(size.perSecond*profileSeconds, 1), SizeBytes: 256, Distribution: spec.Sequential},
			Values: spec.Values{SizeBytes: 1024, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform},
		}},
		Load: spec.Load{
			Transport: spec.TransportClient, Pods: 1, Connections: size.clients, Clients: size.clients,
			DurationSeconds: &seconds, RequestTimeoutSeconds: 10, Seed: 1,
			Rate: &spec.Rate{PerSecond: size.perSecond, Arrival: spec.ArrivalConstant},
		},
		Objectives: profileObjectives(),
	}
}

// profileObjectives are the limits of etcdctl check perf.
func profileObjectives() []Objective {
	latency := func(name string, s spec.Statistic, microseconds int64) Objective {
		return Objective{Name: name, Type: spec.ObjectiveLatency, Latency: &LatencyObjective{
			Operation: spec.OperationPut, Statistic: s, MaxMicroseconds: microseconds,
		}}
	}
	return []Objective{
		{Name: "errors", Type: spec.ObjectiveErrorRatio, ErrorRatio: &ErrorRatioObjective{MaxPerMillion: 0}},
		{Name: "rate", Type: spec.ObjectiveAchievedRate, AchievedRate: &AchievedRateObjective{MinPercent: 90}},
		latency("slowest", spec.StatisticMax, 500_000),
		latency("stddev", spec.StatisticStddev, 100_000),
	}
}
