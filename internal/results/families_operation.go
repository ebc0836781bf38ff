package results

import (
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Bounds on what a snapshot may list, so that it fits into a status. No workload
// has half as many operations.
const (
	maxOperations = 16
	// maxCodes bounds the error codes of one operation.
	maxCodes = 32
)

// operationFamilies are what was measured of each operation.
func operationFamilies() []family {
	return slices.Concat(
		distributionFamilies("etcdbench_request_duration",
			"Latency of successful measured requests, from when they were due to the end of the response",
			func(r *OperationResult) *Histogram { return &r.Latency }),
		distributionFamilies("etcdbench_request_service_duration",
			"Time of successful measured requests from being sent to the end of the response",
			func(r *OperationResult) *Histogram { return &r.Service }),
		distributionFamilies("etcdbench_request_lateness",
			"Time of measured requests, however they ended, from when they were due to being sent",
			func(r *OperationResult) *Histogram { return &r.Lateness }),
		distributionFamilies("etcdbench_failed_request_duration",
			"Latency of failed measured requests",
			func(r *OperationResult) *Histogram { return &r.Failed }),
		distributionFamilies("etcdbench_censored_request_duration",
			"Time that measured requests had been due when they were cut off",
			func(r *OperationResult) *Histogram { return &r.Censored }),
		[]family{
			errorsFamily(),
			countFamily("etcdbench_requests_completed_in_window_total",
				"Successful measured requests that were answered before the window ended.",
				func(r *OperationResult) (*uint64, bool) { return &r.CompletedInWindow, true }),
			countFamily("etcdbench_requests_lost_total",
				"Successful measured requests that changed nothing, because another client was faster.",
				func(r *OperationResult) (*uint64, bool) { return &r.Lost, r.Lost > 0 }),
			countFamily("etcdbench_request_attempts_total",
				"Attempts to commit that successful measured requests took, where one can take several.",
				func(r *OperationResult) (*uint64, bool) { return &r.Attempts, r.Attempts > 0 }),
		},
	)
}

// distributionFamilies are a histogram and what it can not carry.
func distributionFamilies(name, help string, field func(*OperationResult) *Histogram) []family {
	return []family{
		histogramFamily(name+"_seconds", help+".", field),
		extremeFamily(name+"_min_seconds", help+": the shortest.",
			func(r *OperationResult) (*Histogram, *int64) { h := field(r); return h, &h.minimum }),
		extremeFamily(name+"_max_seconds", help+": the longest.",
			func(r *OperationResult) (*Histogram, *int64) { h := field(r); return h, &h.maximum }),
		squaresFamily(name+"_squared_seconds_total", help+": the sum of squares, in square seconds.", field),
	}
}

func histogramFamily(name, help string, field func(*OperationResult) *Histogram) family {
	return operationFamily(name, help, dto.MetricType_HISTOGRAM,
		func(r *OperationResult) (metric, bool) { return metric{histogram: field(r)}, true },
		func(r *OperationResult, m metric) error {
			h := field(r)
			m.histogram.minimum, m.histogram.maximum, m.histogram.sumSquares = h.minimum, h.maximum, h.sumSquares
			*h = *m.histogram
			return nil
		})
}

// extremeFamily is the minimum or the maximum of a histogram, which an empty
// one does not have.
func extremeFamily(name, help string, field func(*OperationResult) (*Histogram, *int64)) family {
	return operationFamily(name, help, dto.MetricType_GAUGE,
		func(r *OperationResult) (metric, bool) {
			h, ns := field(r)
			return metric{value: float64(*ns) / nanosecondsPerSecond}, h.count > 0
		},
		func(r *OperationResult, m metric) error {
			d, err := durations.decode(m.value)
			_, ns := field(r)
			*ns = int64(d)
			return err
		})
}

func squaresFamily(name, help string, field func(*OperationResult) *Histogram) family {
	return operationFamily(name, help, dto.MetricType_COUNTER,
		func(r *OperationResult) (metric, bool) {
			h := field(r)
			return metric{value: h.sumSquares}, h.count > 0
		},
		func(r *OperationResult, m metric) error {
			field(r).sumSquares = m.value
			return nil
		})
}

// countFamily is a count of requests, which not every operation has.
func countFamily(name, help string, field func(*OperationResult) (n *uint64, has bool)) family {
	return operationFamily(name, help, dto.MetricType_COUNTER,
		func(r *OperationResult) (metric, bool) {
			n, has := field(r)
			return metric{value: float64(*n)}, has
		},
		func(r *OperationResult, m metric) (err error) {
			n, _ := field(r)
			*n, err = counts[uint64]().decode(m.value)
			return err
		})
}

// operationFamily has one metric for each operation, at most.
func operationFamily(
	name, help string, kind dto.MetricType,
	write func(*OperationResult) (metric, bool), read func(*OperationResult, metric) error,
) family {
	return family{
		name: name, help: help, kind: kind, labels: []string{"operation"},
		write: func(s *Snapshot, emit func(metric)) {
			for _, operation := range sortedKeys(s.Operations) {
				if m, ok := write(s.Operations[operation]); ok {
					m.labels = []string{string(operation)}
					emit(m)
				}
			}
		},
		read: func(s *Snapshot, m metric) error {
			result, err := s.operation(m.labels[0])
			if err != nil {
				return err
			}
			return read(result, m)
		},
	}
}

func errorsFamily() family {
	return family{
		name: "etcdbench_request_errors_total", help: "Failed measured requests by gRPC status code.",
		kind: dto.MetricType_COUNTER, labels: []string{"operation", "code"},
		write: func(s *Snapshot, emit func(metric)) {
			for _, operation := range sortedKeys(s.Operations) {
				codes := s.Operations[operation].Errors
				for _, code := range sortedKeys(codes) {
					emit(metric{labels: []string{string(operation), code}, value: float64(codes[code])})
				}
			}
		},
		read: func(s *Snapshot, m metric) error {
			result, err := s.operation(m.labels[0])
			if err != nil {
				return err
			}
			if len(result.Errors) == maxCodes {
				return fmt.Errorf("wanted at most %d error codes, found more", maxCodes)
			}
			result.Errors[m.labels[1]], err = counts[uint64]().decode(m.value)
			return err
		},
	}
}

// operation returns the result of an operation that is being read.
func (s *Snapshot) operation(name string) (*OperationResult, error) {
	operation := Operation(name)
	if !slices.Contains(operations[:], operation) {
		return nil, fmt.Errorf("wanted one of the operations %v, found %.64q", operations, name)
	}
	if s.Operations[operation] == nil {
		if len(s.Operations) == maxOperations {
			return nil, fmt.Errorf("wanted at most %d operations, found more", maxOperations)
		}
		s.Operations[operation] = &OperationResult{Errors: map[string]uint64{}}
	}
	return s.Operations[operation], nil
}
