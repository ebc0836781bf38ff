package clients

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// metric names one number of a side in a round.
type metric string

// The metrics. Times are in microseconds.
const (
	requestCount metric = "requests"
	// clientCPU and serverCPU are per request.
	clientCPU metric = "clientCPUMicros"
	serverCPU metric = "serverCPUMicros"
	rate      metric = "requestsPerSecond"
	memory    metric = "memoryMB"

	latencyP50  metric = "latencyP50Micros"
	latencyP95  metric = "latencyP95Micros"
	latencyP99  metric = "latencyP99Micros"
	writeP50    metric = "writeLatencyP50Micros"
	serviceP50  metric = "serviceP50Micros"
	serviceP99  metric = "serviceP99Micros"
	latenessP50 metric = "latenessP50Micros"
	latenessP99 metric = "latenessP99Micros"

	// started is the share of the schedule that was sent, lost the number of
	// requests of which nothing was counted.
	started metric = "startedShare"
	lost    metric = "lostRequests"

	perConnection metric = "memoryPerConnectionKB"
	// kernelMemory is that of all TCP sockets of the host, both ends.
	kernelMemory metric = "kernelMemoryPerConnectionKB"
)

// sample is what one side did in one round.
type sample map[metric]float64

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// charge adds what the process used for its requests.
func (s sample) charge(u usage, requests int64) {
	s[requestCount] = float64(requests)
	s[clientCPU] = micros(u.cpu) / float64(requests)
	s[memory] = float64(u.memoryBytes) / 1e6
}

// add adds the numbers of a run of our own. Of several operations the first
// reads, the last writes.
func (s sample) add(r results.Summary) {
	s[rate] = r.Throughput
	if len(r.Operations) == 0 {
		return
	}
	first, last := r.Operations[0], r.Operations[len(r.Operations)-1]
	if first.Operation == results.OperationPut {
		first, last = last, first
	}
	for metric, value := range map[metric]results.Value{
		latencyP50: first.Latency.Values[results.StatisticP50], latencyP95: first.Latency.Values[results.StatisticP95],
		latencyP99: first.Latency.Values[results.StatisticP99], writeP50: last.Latency.Values[results.StatisticP50],
		serviceP50: first.Service.Values[results.StatisticP50], serviceP99: first.Service.Values[results.StatisticP99],
		latenessP50: first.Lateness.Values[results.StatisticP50], latenessP99: first.Lateness.Values[results.StatisticP99],
	} {
		if value != (results.Value{}) {
			s[metric] = micros(value.Duration)
		}
	}
}
