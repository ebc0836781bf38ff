//go:build trials

package trials

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const (
	slots = 4
	hold  = 10 * time.Millisecond
	limit = 60 * time.Millisecond
	// factor is how far an answer may be from the truth.
	factor = 1.3
)

const searching = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSuite
metadata: {name: trial}
spec:
  targets: [{name: etcd, target: {endpoints: ["%s"]}}]
  workloads:
  - name: put
    workload: {type: Put, put: {keys: {count: 1000}}}
    objectives:
    - {name: p99, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: %d}}
    - {name: rate, type: AchievedRate, achievedRate: {minPercent: 95}}
  search:
    load: {transport: Fast, connections: 10, clients: 300, warmupSeconds: 1, durationSeconds: 5}
    minPerSecond: 20
    maxPerSecond: 5000
`

// TestSearchOnARealEtcd looks for the highest rate of an etcd behind a proxy that serves four puts at a time.
func TestSearchOnARealEtcd(t *testing.T) {
	target := newTarget(t, startEtcd(t), slots, hold)
	s := runSuite(t, fmt.Sprintf(searching, target.address, limit.Microseconds()), nil)
	service := target.mean()
	truth := highestRate(service)
	found := s.Status.Capacities[0]
	t.Logf("a put takes %s, so the highest rate is %d/s; found %+v with %d probes", service, truth, found, len(s.Status.Results))
	if found.State != v1alpha1.CapacityFound {
		t.Errorf("found %s, wanted Found", found.State)
	}
	if ratio := float64(found.RatePerSecond) / float64(truth); ratio < 1/factor || ratio > factor {
		t.Errorf("found %d/s, wanted %d/s within a factor of %.1f", found.RatePerSecond, truth, factor)
	}
}

// TestSearchWhileTheTargetChanges halves what the target can do once the search has reached the bisection: there is no
// rate to find.
func TestSearchWhileTheTargetChanges(t *testing.T) {
	target := newTarget(t, startEtcd(t), slots, hold)
	s := runSuite(t, fmt.Sprintf(searching, target.address, limit.Microseconds()), func(line string) {
		if strings.Contains(line, "(bisect)") {
			target.setHold(2 * hold)
		}
	})
	found := s.Status.Capacities[0]
	t.Logf("found %+v with %d probes", found, len(s.Status.Results))
	if found.State == v1alpha1.CapacityFound || found.State == v1alpha1.CapacityAtLeast {
		t.Errorf("found %+v, wanted no answer", found)
	}
}

// highestRate simulates a queue with random arrivals and a fixed service time. It returns the highest rate whose p99 is
// within the limit.
func highestRate(service time.Duration) (highest int64) {
	for rate := int64(20); rate < 5000; rate += 2 {
		if p99(rate, service) > limit {
			return highest
		}
		highest = rate
	}
	return highest
}

func p99(rate int64, service time.Duration) time.Duration {
	const requests = 200_000
	random := rand.New(rand.NewPCG(1, 2))
	free := make([]time.Duration, slots)
	took := make([]time.Duration, 0, requests)
	now := time.Duration(0)
	for range requests {
		now += time.Duration(random.ExpFloat64() / float64(rate) * float64(time.Second))
		first := 0
		for i, f := range free {
			if f < free[first] {
				first = i
			}
		}
		free[first] = max(free[first], now) + service
		took = append(took, free[first]-now)
	}
	slices.Sort(took)
	return took[requests*99/100]
}
