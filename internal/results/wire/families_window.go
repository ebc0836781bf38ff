package wire

import (
	"fmt"
	"math"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// windowFamilies hold the pod's measured window.
func windowFamilies() []family {
	return []family{
		gauge(pod, "etcdbench_start_at_timestamp_seconds", "Common start of the client pods.",
			timestamps, func(s *results.Snapshot) *time.Time { return &s.Window.StartAt }),
		gauge(pod, "etcdbench_start_skew_seconds", "How long after the common start the client pod started.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Window.Skew }),
		gauge(pod, "etcdbench_window_start_timestamp_seconds", "Start of the measured window.",
			timestamps, func(s *results.Snapshot) *time.Time { return &s.Window.Start }),
		gauge(pod, "etcdbench_window_end_timestamp_seconds", "End of the measured window, once it has ended.",
			timestamps, func(s *results.Snapshot) *time.Time { return &s.Window.End }),
		gauge(pod, "etcdbench_last_response_timestamp_seconds", "When the last measured request was answered.",
			timestamps, func(s *results.Snapshot) *time.Time { return &s.Window.LastResponse }),
		gauge(pod, "etcdbench_window_planned_seconds", "Planned length of the measured window, if a duration bounds it. Of a burst, the time over which its processes start.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Window.Planned }),
		gauge(pod, "etcdbench_planned_requests", "Planned measured requests of the client pod, if their number bounds the window.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Window.PlannedRequests }),
		gauge(pod, "etcdbench_started_requests", "Measured requests that were sent.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Started }),
		gauge(pod, "etcdbench_arrivals_lacking_client", "Requests that were due in the measured window and still waited for a free client when it ended.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Arrivals.Lacking }),
		gauge(pod, "etcdbench_arrivals_skipped", "Requests that were due in the measured window and never sent although a client was free.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Arrivals.Skipped }),
		gauge(pod, "etcdbench_arrivals_bunched", "Measured requests that were sent late, when the next one was due too.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Arrivals.Bunched }),
		gauge(pod, "etcdbench_clients_busy_seconds", "Time for which clients were busy with measured requests of a schedule, over all clients.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Arrivals.Busy }),
		gauge(pod, "etcdbench_client_pauses", "Pauses of clients after requests that failed at once.",
			counts[uint64](), func(s *results.Snapshot) *uint64 { return &s.Pauses.Count }),
		gauge(pod, "etcdbench_client_pauses_seconds", "Time that clients paused after requests that failed at once, over all clients.",
			durations, func(s *results.Snapshot) *time.Duration { return &s.Pauses.Total }),
	}
}

// codec converts a field to the value of a metric and back. encode returns false if the field is not set; then there is
// no metric.
type codec[T any] struct {
	encode func(T) (float64, bool)
	decode func(float64) (T, error)
}

// pod is the snapshot itself.
var pod = part(func(s *results.Snapshot) *results.Snapshot { return s })

var flags = codec[bool]{
	encode: func(set bool) (float64, bool) {
		if set {
			return 1, true
		}
		return 0, true
	},
	decode: func(v float64) (bool, error) {
		if v != 0 && v != 1 {
			return false, fmt.Errorf("wanted 0 or 1, found %v", v)
		}
		return v == 1, nil
	},
}

// rareFlags take no room in a termination message unless they are set.
var rareFlags = codec[bool]{
	encode: func(set bool) (float64, bool) { return 1, set },
	decode: flags.decode,
}

// timestamps are in seconds since 1970. A float64 has a resolution of a quarter of a microsecond, so times are
// truncated to whole microseconds, which are exact.
var timestamps = codec[time.Time]{
	encode: func(t time.Time) (float64, bool) {
		return float64(t.UnixMicro()) / 1e6, !t.IsZero()
	},
	decode: func(v float64) (time.Time, error) {
		if v > results.MaxSeconds {
			return time.Time{}, fmt.Errorf("wanted a time in this or the next century, found %v s", v)
		}
		return time.UnixMicro(int64(math.Round(v * 1e6))).UTC(), nil
	},
}

// durations are exact to the nanosecond up to 26 days. A negative one, caused by a changed clock, counts as 0.
var durations = codec[time.Duration]{
	encode: func(d time.Duration) (float64, bool) {
		return float64(d) / nanosecondsPerSecond, d > 0
	},
	decode: func(v float64) (time.Duration, error) {
		if v > results.MaxSeconds {
			return 0, fmt.Errorf("wanted a duration of less than 285 years, found %v s", v)
		}
		return time.Duration(math.Round(v * nanosecondsPerSecond)), nil
	},
}

func counts[T int | uint64]() codec[T] { return wholes[T](results.MaxCount) }

// sizes are in bytes.
var sizes = wholes[int64](results.MaxBytes)

// wholes are whole numbers up to a limit. A greater value, which only the target can have reported, is limited to it;
// otherwise all other results would be refused with it.
func wholes[T int | int64 | uint64](limit float64) codec[T] {
	return codec[T]{
		encode: func(n T) (float64, bool) { return min(float64(n), limit), n > 0 },
		decode: func(v float64) (T, error) {
			if v > limit || v != math.Trunc(v) {
				return 0, fmt.Errorf("wanted a whole number of at most %.0f, found %v", limit, v)
			}
			return T(v), nil
		},
	}
}
