package wire

import (
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Limits for lists in a snapshot, so that it fits into a status. A workload has less than half as many operations.
const (
	maxOperations = 16
	// maxCodes bounds the error codes of one operation.
	maxCodes = 32
)

// operationFamilies hold the measurement of each operation.
func operationFamilies() []family {
	return slices.Concat(
		distributionFamilies("etcdbench_request_duration",
			"Latency of successful measured requests, from when they were due to the end of the response",
			func(r *results.OperationResult) *results.Histogram { return &r.Latency }),
		distributionFamilies("etcdbench_request_service_duration",
			"Time of successful measured requests from being sent to the end of the response",
			func(r *results.OperationResult) *results.Histogram { return &r.Service }),
		rareDistributionFamilies("etcdbench_request_net_duration",
			"Latency of successful measured requests without their lateness, if some of them waited for a free client",
			func(r *results.OperationResult) *results.Histogram { return &r.Net }),
		distributionFamilies("etcdbench_request_lateness",
			"Time of all sent measured requests from when they were due and a client was free to being sent",
			func(r *results.OperationResult) *results.Histogram { return &r.Lateness }),
		rareDistributionFamilies("etcdbench_request_backlog_duration",
			"Time of the sent measured requests that waited for a free client from when they were due until a client was free",
			func(r *results.OperationResult) *results.Histogram { return &r.Backlog }),
		distributionFamilies("etcdbench_failed_request_duration",
			"Latency of failed measured requests",
			func(r *results.OperationResult) *results.Histogram { return &r.Failed }),
		distributionFamilies("etcdbench_censored_request_duration",
			"Time from when unanswered measured requests were due to the end of the drain",
			func(r *results.OperationResult) *results.Histogram { return &r.Censored }),
		[]family{
			errorsFamily(),
			exampleFamily(),
			number(operations, "etcdbench_requests_completed_in_window_total",
				"Successful measured requests that were answered before the window ended.", dto.MetricType_COUNTER,
				codec[uint64]{func(n uint64) (float64, bool) { return float64(n), true }, counts[uint64]().decode},
				func(r *results.OperationResult) *uint64 { return &r.CompletedInWindow }),
			number(operations, "etcdbench_requests_lost_total",
				"Successful measured requests that changed nothing, because another client was faster.", dto.MetricType_COUNTER,
				counts[uint64](), func(r *results.OperationResult) *uint64 { return &r.Lost }),
			number(operations, "etcdbench_request_attempts_total",
				"Attempts to commit that successful measured requests took, where one can take several.", dto.MetricType_COUNTER,
				counts[uint64](), func(r *results.OperationResult) *uint64 { return &r.Attempts }),
		},
	)
}

// rareDistributionFamilies have no metric for an operation without a record.
func rareDistributionFamilies(name, help string, field func(*results.OperationResult) *results.Histogram) []family {
	all := distributionFamilies(name, help, field)
	all[0] = histogramFamily(name+"_seconds", help+".", field, func(h *results.Histogram) bool { return h.Count() > 0 })
	return all
}

// distributionFamilies are a histogram and the values that a histogram metric does not have.
func distributionFamilies(name, help string, field func(*results.OperationResult) *results.Histogram) []family {
	return []family{
		histogramFamily(name+"_seconds", help+".", field, func(*results.Histogram) bool { return true }),
		extremeFamily(name+"_min_seconds", help+": the shortest.", field, func(u *results.Unbinned) *int64 { return &u.Minimum }),
		extremeFamily(name+"_max_seconds", help+": the longest.", field, func(u *results.Unbinned) *int64 { return &u.Maximum }),
		squaresFamily(name+"_squared_seconds_total", help+": the sum of squares, in square seconds.", field),
	}
}

func histogramFamily(name, help string, field func(*results.OperationResult) *results.Histogram, has func(*results.Histogram) bool) family {
	return operations.family(name, help, dto.MetricType_HISTOGRAM,
		func(r *results.OperationResult) (metric, bool) { return metric{histogram: field(r)}, has(field(r)) },
		func(r *results.OperationResult, m metric) error {
			known := field(r).Unbinned()
			*field(r) = *m.histogram
			field(r).SetUnbinned(known)
			return nil
		})
}

// change changes a figure of a histogram that is being decoded.
func change(h *results.Histogram, set func(*results.Unbinned)) {
	u := h.Unbinned()
	set(&u)
	h.SetUnbinned(u)
}

// extremeFamily is the minimum or the maximum of a histogram; an empty histogram has none.
func extremeFamily(name, help string, field func(*results.OperationResult) *results.Histogram, of func(*results.Unbinned) *int64) family {
	return operations.family(name, help, dto.MetricType_GAUGE,
		func(r *results.OperationResult) (metric, bool) {
			u := field(r).Unbinned()
			return metric{value: float64(*of(&u)) / nanosecondsPerSecond}, field(r).Count() > 0
		},
		func(r *results.OperationResult, m metric) error {
			d, err := durations.decode(m.value)
			if err != nil {
				return err
			}
			change(field(r), func(u *results.Unbinned) { *of(u) = int64(d) })
			return nil
		})
}

func squaresFamily(name, help string, field func(*results.OperationResult) *results.Histogram) family {
	return operations.family(name, help, dto.MetricType_COUNTER,
		func(r *results.OperationResult) (metric, bool) {
			h := field(r)
			return metric{value: h.SumSquares()}, h.Count() > 0
		},
		func(r *results.OperationResult, m metric) error {
			change(field(r), func(u *results.Unbinned) { u.SumSquares = m.value })
			return nil
		})
}

// operations have one item for each operation.
var operations = place[results.OperationResult]{
	labels: []string{"operation"},
	each: func(s *results.Snapshot, do func(*results.OperationResult, ...string)) {
		for _, operation := range sortedKeys(s.Operations) {
			do(s.Operations[operation], string(operation))
		}
	},
	find: func(s *results.Snapshot, name []string) (*results.OperationResult, error) {
		operation := spec.Operation(name[0])
		if operation.Index() < 0 {
			return nil, fmt.Errorf("wanted one of the operations %v, found %.64q", spec.AllOperations(), operation)
		}
		if s.Operations[operation] == nil {
			if len(s.Operations) == maxOperations {
				return nil, fmt.Errorf("wanted at most %d operations, found more", maxOperations)
			}
			s.Operations[operation] = &results.OperationResult{Errors: map[string]uint64{}}
		}
		return s.Operations[operation], nil
	},
}

func errorsFamily() family {
	return family{
		name: "etcdbench_request_errors_total", help: "Failed measured requests by gRPC status code.",
		kind: dto.MetricType_COUNTER, labels: []string{"operation", "code"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, operation := range sortedKeys(s.Operations) {
				codes := s.Operations[operation].Errors
				for _, code := range sortedKeys(codes) {
					emit(metric{labels: []string{string(operation), code}, value: float64(codes[code])})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			result, err := operations.find(s, m.labels)
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

func exampleFamily() family {
	return family{
		name: "etcdbench_request_error_example_info", help: "The message of one failed measured request, by gRPC status code.",
		kind: dto.MetricType_GAUGE, labels: []string{"operation", "code", "message"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, operation := range sortedKeys(s.Operations) {
				examples := s.Operations[operation].Examples
				for _, code := range sortedKeys(examples) {
					emit(metric{labels: []string{string(operation), code, examples[code]}, value: 1})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			result, err := operations.find(s, m.labels)
			if err != nil {
				return err
			}
			result.Examples.Add(m.labels[1], m.labels[2])
			return nil
		},
	}
}
