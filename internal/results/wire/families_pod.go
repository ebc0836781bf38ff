package wire

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Limits for lists in a snapshot, so that it fits into a status.
const (
	maxIndex    = 1 << 20
	maxKeyBytes = 1 << 20
	maxOmitted  = 32
)

var (
	cleanings = []results.Cleaning{results.CleaningNothingWritten, results.CleaningKeysLeft, results.CleaningKeysDeleted}
	phases    = []results.Phase{results.PhasePreload, results.PhaseWarmup, results.PhaseMeasured, results.PhaseControl}
	// camelWord matches the name of an RPC or of a reason.
	camelWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,63}$`)
)

// podFamilies identify the pod and hold its stage and its sent requests.
func podFamilies() []family {
	return []family{
		podInfoFamily(),
		stateSet("etcdbench_stage", "stage", "The stage that the client pod is in is 1, the others are 0.",
			results.Stages, func(s *results.Snapshot) *results.Stage { return &s.Stage }),
		failureFamily(),
		gauge(pod, "etcdbench_stopped", "1 if the load ended before its bound because it was stopped.",
			flags, func(s *results.Snapshot) *bool { return &s.Stopped }),
		gauge(pod, "etcdbench_coarse_pacing", "1 if requests are sent up to a millisecond late because the system has no exact timer; otherwise absent.",
			rareFlags, func(s *results.Snapshot) *bool { return &s.CoarsePacing }),
		stateSet("etcdbench_keys_state", "state", "The state of the client pod's keys in the target is 1, the others are 0.",
			cleanings, func(s *results.Snapshot) *results.Cleaning { return &s.Cleaning }),
		gauge(pod, "etcdbench_work_done_keys", "Keys or leases of the preload that were written, or keys of the run that were checked and deleted, in the current stage.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Work.Done }),
		gauge(pod, "etcdbench_work_total_keys", "Keys or leases that the client pod has to write, or to check and delete, in the current stage.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Work.Total }),
		gauge(pod, "etcdbench_work_start_timestamp_seconds", "When that work began.",
			timestamps, func(s *results.Snapshot) *time.Time { return &s.Work.Since }),
		gauge(pod, "etcdbench_key_size_bytes", "Length of a key on the wire, with the prefix of the run.",
			wholes[int](maxKeyBytes), func(s *results.Snapshot) *int { return &s.KeyBytes }),
		requestsFamily(),
		gauge(pod, "etcdbench_requests_resent", "Requests that were sent again because the target had refused their token, or had closed their connection.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Resent }),
		gauge(pod, "etcdbench_sessions_cut", "Times that a session of the load lost its connection.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Cuts.Count }),
		gauge(pod, "etcdbench_session_longest_cut_seconds", "The longest time that a session of the load had no connection.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Cuts.Longest }),
		gauge(pod, "etcdbench_request_body_bytes", "Bytes of the bodies of measured requests, if the transport counts them.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Bodies.Sent }),
		gauge(pod, "etcdbench_response_body_bytes", "Bytes of the bodies of the responses to measured requests, if the transport counts them.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Bodies.Received }),
		list(pod, "etcdbench_omitted_info", "Parts that were left out because there was no room.", "part", maxOmitted,
			func(s *results.Snapshot) *[]string { return &s.Omitted }),
	}
}

func podInfoFamily() family {
	return family{
		name: "etcdbench_pod_info", help: "The run and the index of the client pod, and its transport.",
		kind: dto.MetricType_GAUGE, labels: []string{"run_uid", "index", "transport"},
		write: func(s *results.Snapshot, emit func(metric)) {
			emit(metric{labels: []string{s.RunUID, strconv.Itoa(s.Index), string(s.Transport)}, value: 1})
		},
		read: func(s *results.Snapshot, m metric) error {
			index, err := strconv.Atoi(m.labels[1])
			if err != nil || index < 0 || index > maxIndex {
				return fmt.Errorf("wanted the index of a pod, found %q", m.labels[1])
			}
			if s.RunUID != "" {
				return errors.New("wanted one pod, found two")
			}
			s.RunUID, s.Index, s.Transport = m.labels[0], index, spec.Transport(m.labels[2])
			return nil
		},
	}
}

func failureFamily() family {
	return family{
		name: "etcdbench_failure_info", help: "Why the client pod could not do its part.",
		kind: dto.MetricType_GAUGE, labels: []string{"reason", "message"},
		write: func(s *results.Snapshot, emit func(metric)) {
			if s.Failure != nil {
				emit(metric{labels: []string{string(s.Failure.Reason), s.Failure.Message}, value: 1})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			if !camelWord.MatchString(m.labels[0]) || s.Failure != nil {
				return fmt.Errorf("wanted one failure with a reason in one word, found %.64q", m.labels[0])
			}
			s.Failure = &results.Failure{Reason: results.FailureReason(m.labels[0]), Message: m.labels[1]}
			return nil
		},
	}
}

func requestsFamily() family {
	return family{
		name: "etcdbench_requests_total", help: "Requests sent to the target, by RPC and by phase.",
		kind: dto.MetricType_COUNTER, labels: []string{"rpc", "phase"},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, rpc := range sortedKeys(s.Requests) {
				for _, phase := range sortedKeys(s.Requests[rpc]) {
					emit(metric{labels: []string{string(rpc), string(phase)}, value: float64(s.Requests[rpc][phase])})
				}
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			n, err := counts[uint64]().decode(m.value)
			if err != nil {
				return err
			}
			return addRequests(s, spec.RPC(m.labels[0]), results.Phase(m.labels[1]), n)
		},
	}
}

func addRequests(s *results.Snapshot, rpc spec.RPC, phase results.Phase, n uint64) error {
	if !camelWord.MatchString(string(rpc)) || !slices.Contains(phases, phase) {
		return fmt.Errorf("wanted an RPC and one of the phases %v, found %.64q and %.64q", phases, rpc, phase)
	}
	if s.Requests[rpc] == nil {
		if len(s.Requests) == spec.MostRPCs {
			return fmt.Errorf("wanted at most %d RPCs, found more", spec.MostRPCs)
		}
		s.Requests[rpc] = map[results.Phase]uint64{}
	}
	s.Requests[rpc][phase] += n
	return nil
}

// stateSet is a family with one metric per state; at most one of them is 1.
func stateSet[T ~string](name, label, help string, states []T, field func(*results.Snapshot) *T) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE, labels: []string{label},
		write: func(s *results.Snapshot, emit func(metric)) {
			for _, state := range states {
				value, _ := flags.encode(state == *field(s))
				emit(metric{labels: []string{string(state)}, value: value})
			}
		},
		read: func(s *results.Snapshot, m metric) error {
			state, current := T(m.labels[0]), field(s)
			set, err := flags.decode(m.value)
			switch {
			case err != nil || !set:
				return err
			case *current != "" || !slices.Contains(states, state):
				return fmt.Errorf("wanted one of %v, found %.64q", states, state)
			}
			*current = state
			return nil
		},
	}
}
