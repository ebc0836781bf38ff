package main

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
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

	latencyMean metric = "latencyMeanMicros"
	latencyP50  metric = "latencyP50Micros"
	latencyP95  metric = "latencyP95Micros"
	latencyP99  metric = "latencyP99Micros"
	writeP50    metric = "writeLatencyP50Micros"
	sendingP50  metric = "writeServiceP50Micros"
	eventP50    metric = "eventDelayP50Micros"
	serviceP50  metric = "serviceP50Micros"
	serviceP99  metric = "serviceP99Micros"
	latenessP50 metric = "latenessP50Micros"
	latenessP99 metric = "latenessP99Micros"

	// started is the share of the schedule that was sent. lost is the number of scheduled requests that did not
	// succeed.
	started metric = "startedShare"
	lost    metric = "lostRequests"

	perConnection metric = "memoryPerConnectionKB"
	// kernelMemory is that of all TCP sockets of the host, both ends.
	kernelMemory metric = "kernelMemoryPerConnectionKB"

	recordNanos       metric = "recordNanos"
	recordAllocations metric = "recordAllocations"
)

// sample has the numbers of one side in one round.
type sample map[metric]float64

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// charge adds the resources that the process used for its requests.
func (s sample) charge(u usage, requests int64) {
	s[requestCount] = float64(requests)
	s[clientCPU] = micros(u.cpu) / float64(requests)
	s[memory] = float64(u.memoryBytes) / 1e6
}

// add adds the numbers of one of our own runs.
func (s sample) add(r results.Summary) {
	s[rate] = r.Throughput
	for _, o := range r.Operations {
		switch {
		case o.Operation == spec.OperationWatchDelivery:
			s.set(eventP50, o.Latency, spec.StatisticP50)
		case o.Operation.IsEvent():
		case o.Operation == spec.OperationPut && len(r.Operations) > 1:
			s.set(writeP50, o.Latency, spec.StatisticP50)
			s.set(sendingP50, o.Service, spec.StatisticP50)
		default:
			s.addRequests(o)
		}
	}
}

// addRequests adds the numbers of the operation that a load is named after.
func (s sample) addRequests(o results.OperationSummary) {
	s.set(latencyMean, o.Latency, spec.StatisticMean)
	s.set(latencyP50, o.Latency, spec.StatisticP50)
	s.set(latencyP95, o.Latency, spec.StatisticP95)
	s.set(latencyP99, o.Latency, spec.StatisticP99)
	s.set(serviceP50, o.Service, spec.StatisticP50)
	s.set(serviceP99, o.Service, spec.StatisticP99)
	s.set(latenessP50, o.Lateness, spec.StatisticP50)
	s.set(latenessP99, o.Lateness, spec.StatisticP99)
}

// set leaves out unknown values.
func (s sample) set(m metric, d results.Distribution, statistic spec.Statistic) {
	if v, known := d.Values[statistic]; known {
		s[m] = micros(v.Duration)
	}
}
