package verdict

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// How far starts may be apart, and clocks off, before a run cannot pass.
const (
	// maxApartShare of the run's length: for that time not all pods sent.
	maxApartShare = 0.05
	// maxApart is what a busy node may take to wake a pod up, however short the
	// run is.
	maxApart = 500 * time.Millisecond
	// maxClockOff is what no run is long enough for: a clock that is further off is
	// kept by nobody, and may be further off a minute later.
	maxClockOff = 5 * time.Second
)

// doubt is a reason for which a run's numbers are not of what was asked for.
type doubt struct{ reason, message string }

// doubtRun keeps a run from passing of which there is a doubt. A missed objective
// stays missed. Clocks come before starts: when a pod started is known by its own
// clock alone.
func doubtRun(c *metav1.Condition, b *v1alpha1.EtcdBenchmark, s *results.Summary) *metav1.Condition {
	if s == nil {
		return c
	}
	for _, look := range []func(*v1alpha1.EtcdBenchmark, *results.Summary) *doubt{doubtTarget, doubtSight, doubtHistory, doubtClocks, doubtStarts} {
		d := look(b, s)
		switch {
		case d == nil:
		case c.Status == metav1.ConditionTrue:
			c.Status, c.Reason = metav1.ConditionUnknown, d.reason
			c.Message = d.message + " What was measured meets the objectives."
		default:
			c.Message += " " + d.message
		}
	}
	return c
}

func doubtTarget(_ *v1alpha1.EtcdBenchmark, s *results.Summary) *doubt {
	if s.Target == nil || len(s.Target.Changes) == 0 {
		return nil
	}
	first := s.Target.Changes[0]
	message := fmt.Sprintf("The target changed under the run, at %s (%s: %s).", first.At.UTC().Format(time.RFC3339), first.Aspect, text.Shorten(first.Detail, v1alpha1.MaxMessageLength))
	if more := len(s.Target.Changes) - 1; more > 0 {
		message = fmt.Sprintf("The target changed %d times under the run, first at %s (%s: %s).", more+1, first.At.UTC().Format(time.RFC3339), first.Aspect, text.Shorten(first.Detail, v1alpha1.MaxMessageLength))
	}
	return &doubt{v1alpha1.ReasonTargetChanged, message}
}

// doubtSight: a change that nobody looked for is not one that did not come.
func doubtSight(_ *v1alpha1.EtcdBenchmark, s *results.Summary) *doubt {
	if s.Target == nil || len(s.Target.Unseen) == 0 {
		return nil
	}
	aspect := slices.Min(slices.Collect(maps.Keys(s.Target.Unseen)))
	return &doubt{v1alpha1.ReasonTargetUnseen, fmt.Sprintf("Whether the target changed under the run is not known (%s: %s).",
		aspect, text.Shorten(s.Target.Unseen[aspect], v1alpha1.MaxMessageLength))}
}

// doubtHistory: reads beside nobody are not what was asked for.
func doubtHistory(_ *v1alpha1.EtcdBenchmark, s *results.Summary) *doubt {
	if s.Watch.CompactedAfter == 0 {
		return nil
	}
	return &doubt{v1alpha1.ReasonHistoryCompacted, fmt.Sprintf("The history that watchers read was compacted %s after the start of the window, and the load went on without them: let the target's auto-compaction keep more than the run lasts.",
		text.Exact(s.Watch.CompactedAfter))}
}

func doubtStarts(_ *v1alpha1.EtcdBenchmark, s *results.Summary) *doubt {
	if s.StartSkew <= tolerance(s) {
		return nil
	}
	return &doubt{v1alpha1.ReasonStartsApart, fmt.Sprintf("The last client pod started %s after the first, wanted at most %s: for that time not all of them sent.",
		text.Exact(s.StartSkew), text.Exact(tolerance(s)))}
}

func doubtClocks(b *v1alpha1.EtcdBenchmark, s *results.Summary) *doubt {
	for _, p := range b.Status.Pods {
		if p.ClockOffsetMicroseconds == nil {
			continue
		}
		offset := time.Duration(*p.ClockOffsetMicroseconds) * time.Microsecond
		if offset.Abs() > clockTolerance(s) {
			return &doubt{v1alpha1.ReasonClockOffset, fmt.Sprintf("The clock of client pod %d is %s off the operator's, wanted at most %s: it started that much early or late; look at the time service of node %s.",
				p.Index, text.Exact(offset.Abs()), text.Exact(clockTolerance(s)), p.Node)}
		}
	}
	return nil
}

func clockTolerance(s *results.Summary) time.Duration { return min(tolerance(s), maxClockOff) }

func tolerance(s *results.Summary) time.Duration {
	return max(maxApart, time.Duration(maxApartShare*float64(s.Length)))
}
