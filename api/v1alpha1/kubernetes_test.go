package v1alpha1

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Each node renews its lease six times a minute. In a cluster of 50 nodes, 6 pods are created a minute, and each comes
// with a deletion, 4 changes and 5 events; 7 listings are independent of the size.
func TestNodesSetTheLoad(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes, clients int32
		perMinute      int64
	}{
		"the fewest":              {50, 50, 50*6 + 6*11 + 7},
		"as the workload's Large": {1000, 1000, 1000*6 + 120*11 + 7},
		// An API server admits 600 requests at a time.
		"the most":              {5000, 1800, 5000*6 + 600*11 + 7},
		"a share of a creation": {54, 54, 54*6 + 6*11 + 7},
		"more than half of one": {55, 55, 55*6 + 7*11 + 7},
	} {
		t.Run(name, func(t *testing.T) {
			r := (&EtcdBenchmark{Spec: EtcdBenchmarkSpec{Kubernetes: &KubernetesCluster{Nodes: tc.nodes}}}).Resolved()
			requests, seconds := int64(0), int32(0)
			for _, stage := range r.Load.Rate.Stages {
				requests, seconds = requests+stage.PerSecond*int64(stage.Seconds), seconds+stage.Seconds
			}
			if requests != tc.perMinute || seconds != 60 || r.Load.Clients != tc.clients {
				t.Errorf("got %d requests in %d s by %d clients, wanted %d in a minute by %d", requests, seconds, r.Load.Clients, tc.perMinute, tc.clients)
			}
			if nodes := r.Workload.Kubernetes.Nodes; nodes != tc.nodes || len(r.Objectives) == 0 {
				t.Errorf("got a workload of %d nodes with %d objectives", nodes, len(r.Objectives))
			}
		})
	}
}

// The rest of the load is the same for each number of nodes, as docs/workload-kubernetes.md says: that of three API servers.
func TestTheLoadOfThreeAPIServers(t *testing.T) {
	r := KubernetesCluster{Nodes: 500}.resolve()
	want := spec.Load{
		Transport: spec.TransportClient, Pods: 3, Connections: 3, Clients: 500, RequestTimeoutSeconds: 60, Seed: 1,
		Rate: &spec.Rate{Arrival: spec.ArrivalPoisson, Stages: r.Load.Rate.Stages},
	}
	if diff := cmp.Diff(want, r.Load); diff != "" {
		t.Errorf("load (-want +got):\n%s", diff)
	}
}

// The limits are those of docs/workload-kubernetes.md.
func TestTheLimitsOfACluster(t *testing.T) {
	want := []string{
		"errors 0", "rate 95", "writes OptimisticPut P99 150000", "deletions OptimisticDelete Max 1000000", "lists ListBy500 Max 30000000",
	}
	var got []string
	for _, o := range clusterObjectives() {
		switch o.Type {
		case spec.ObjectiveErrorRatio:
			got = append(got, fmt.Sprint(o.Name, " ", o.ErrorRatio.MaxPerMillion))
		case spec.ObjectiveAchievedRate:
			got = append(got, fmt.Sprint(o.Name, " ", o.AchievedRate.MinPercent))
		case spec.ObjectiveLatency:
			got = append(got, fmt.Sprint(o.Name, " ", o.Latency.Operation, " ", o.Latency.Statistic, " ", o.Latency.MaxMicroseconds))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

// A minute without a rest has one stage: a stage of 0 seconds would be refused.
func TestMinuteOfWholeRates(t *testing.T) {
	if got := minuteOf(120); len(got) != 1 || got[0].PerSecond != 2 || got[0].Seconds != 60 {
		t.Errorf("got %+v", got)
	}
}
