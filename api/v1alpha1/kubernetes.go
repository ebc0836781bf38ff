package v1alpha1

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

const (
	// apiServers is the number of API servers of a highly available control plane.
	apiServers = 3
	// requestsPerServer is how many requests an API server carries out at a time: the defaults of --max-requests-inflight
	// and --max-mutating-requests-inflight.
	requestsPerServer = 400 + 200
	// requestSeconds is the default of an API server's --request-timeout.
	requestSeconds = 60
)

// resolve derives a load of one minute. docs/workload-kubernetes.md gives the source of each number.
func (c KubernetesCluster) resolve() Resolved {
	cluster := spec.Kubernetes{Nodes: c.Nodes}
	return Resolved{
		Workload: spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &cluster},
		Load: spec.Load{
			Transport: spec.TransportClient, Pods: apiServers, Connections: apiServers, Clients: min(c.Nodes, apiServers*requestsPerServer),
			RequestTimeoutSeconds: requestSeconds, Seed: 1,
			Rate: &spec.Rate{Arrival: spec.ArrivalPoisson, Stages: minuteOf(cluster.PerMinute().Total())},
		},
		Objectives: clusterObjectives(),
	}
}

// minuteOf are stages of whole rates that add up to this number of requests in a minute.
func minuteOf(requests int64) []spec.RateStage {
	perSecond, more := requests/60, int32(requests%60)
	stages := []spec.RateStage{{PerSecond: perSecond, Seconds: 60 - more}}
	if more > 0 {
		stages = append(stages, spec.RateStage{PerSecond: perSecond + 1, Seconds: more})
	}
	return stages
}

// clusterObjectives are limits of requests to etcd. Deletions and listings are too few for a percentile. There is only one
// listing in large pages a minute, and random arrivals may miss it, so it has no limit of its own.
func clusterObjectives() []Objective {
	latency := func(name string, o spec.Operation, s spec.Statistic, microseconds int64) Objective {
		return Objective{Name: name, Type: spec.ObjectiveLatency, Latency: &LatencyObjective{Operation: o, Statistic: s, MaxMicroseconds: microseconds}}
	}
	return []Objective{
		{Name: "errors", Type: spec.ObjectiveErrorRatio, ErrorRatio: &ErrorRatioObjective{MaxPerMillion: 0}},
		{Name: "rate", Type: spec.ObjectiveAchievedRate, AchievedRate: &AchievedRateObjective{MinPercent: 95}},
		latency("writes", spec.OperationOptimisticPut, spec.StatisticP99, 150_000),
		latency("deletions", spec.OperationOptimisticDelete, spec.StatisticMax, 1_000_000),
		latency("lists", spec.OperationListBy500, spec.StatisticMax, 30_000_000),
	}
}
