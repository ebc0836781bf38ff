package plan

import (
	"errors"
	"fmt"
)

// Limits of numbers, those of the API and above: sums and products of what a plan
// may hold do not overflow, and nothing that is done for each of them takes for ever.
const (
	// maxPrefixParts is half of MaxTxnOperations: one transaction looks at every
	// prefix that a prefix lies within.
	maxPrefixParts = MaxTxnOperations / 2
	maxPods        = 1_000
	maxConnections = 100_000
	maxClients     = 1_000_000
	maxRequests    = 100_000_000_000
	maxKeys        = 1_000_000_000
	maxKeySize     = 4096
	// maxValueSize is that of etcd's largest request.
	maxValueSize = 1536 << 10
	// maxTTLSeconds is a year.
	maxTTLSeconds = 365 * 24 * 60 * 60
)

func (p Plan) validateLimits() error {
	w, l := p.Workload, p.Load
	return errors.Join(
		atMost(maxPods, "pods", p.Pods),
		atMost(maxSeconds, "timeoutSeconds", p.TimeoutSeconds),
		atMost(maxSeconds, "target.sampleIntervalSeconds", p.Target.SampleIntervalSeconds),
		atMost(maxConnections, "load.connections", l.Connections),
		atMost(maxClients, "load.clients", l.Clients),
		atMost(maxRequests, "load.requests", l.Requests),
		atMost(maxSeconds, "load.durationSeconds", l.DurationSeconds),
		atMost(maxSeconds, "load.warmupSeconds", l.WarmupSeconds),
		atMost(maxSeconds, "load.requestTimeoutSeconds", l.RequestTimeoutSeconds),
		atMost(maxKeys, "workload.keyCount", w.KeyCount),
		atMost(maxKeySize, "workload.keySize", w.KeySize),
		atMost(maxValueSize, "workload.valueSize", w.ValueSize),
		p.Guard.StopOn.validateLimits(),
	)
}

func (r StopRules) validateLimits() error {
	return errors.Join(
		atMost(maxSeconds, "guard.stopOn.errorRatio.forSeconds", r.ErrorRatio.ForSeconds),
		atMost(maxSeconds, "guard.stopOn.walFsync.forSeconds", r.WALFsync.ForSeconds),
		atMost(maxSeconds*1_000_000, "guard.stopOn.walFsync.maxMeanMicroseconds", r.WALFsync.MaxMeanMicroseconds),
	)
}

func atMost[T int | int64](limit T, field string, found T) error {
	return check(found <= limit, field, fmt.Sprintf("at most %d", limit), found)
}
