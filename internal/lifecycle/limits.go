package lifecycle

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// How long a run waits for what. Every failure must be told within 60 s of
// being knowable; these leave room for the reports of the pods that live.
const (
	// targetGrace lets a Service and a run be applied together, in any order.
	targetGrace = 30 * time.Second
	// imageGrace covers a registry's short fault: the kubelet's second try
	// comes after 10 s.
	imageGrace = 20 * time.Second
	// refusalGrace covers a quota that is about to be freed; the Job controller
	// tries again after 1, 2, 4 and 8 s.
	refusalGrace = 15 * time.Second
	// failureGrace is what the living pods get to report after one failed: they
	// drain for up to a request's time-out, and wait up to 30 s for the others
	// before the keys are deleted.
	failureGrace = 50 * time.Second
	// stopGrace is what they get to drain, delete keys and report after a stop
	// or the rule of a guard.
	stopGrace = 90 * time.Second
	// timeoutGrace is what they get where stopGrace would end later than a
	// minute after spec.timeoutSeconds, by which every run is finished.
	timeoutGrace = 50 * time.Second
	// abandonedAfter is how long after its grace a deleted pod may yet report.
	abandonedAfter = 20 * time.Second
	// releaseGrace is when pods that outlive their finished run, though they have
	// reported, are deleted.
	releaseGrace = 2 * time.Minute
	// deletionGrace bounds how long the finalizer may hold a deleted object.
	deletionGrace = 2 * time.Minute

	// hearGrace is how long an operator that has just come waits for a pod's first
	// word: for two scrapes, a second apart, that take as long as they may. That is
	// so for any number of pods that are silent, since the collector asks all at once.
	hearGrace = 8 * time.Second

	// leadBase and leadPerPod are the time between the decision to start and
	// the start: the annotation reaches a pod's file within 0.25 s, and the
	// operator patches a pod in less than 10 ms.
	leadBase   = time.Second
	leadPerPod = 10 * time.Millisecond
	// maxLeadAfterMiss bounds what is added after a start that was missed: the
	// operator may have been away, and be quick again.
	maxLeadAfterMiss = 10 * time.Second

	// resolveEvery is how often a target that is not there is looked for.
	resolveEvery = 2 * time.Second
	// heartbeat bounds the harm of an event that never came.
	heartbeat = 5 * time.Second
)

func lead(pods int32) time.Duration { return leadBase + time.Duration(pods)*leadPerPod }

// leadAfterMiss is what is added to the lead if a start has passed before a pod
// was told: an operator, or an API server, that is so slow would miss it again,
// and again.
func leadAfterMiss(late time.Duration) time.Duration { return min(2*late, maxLeadAfterMiss) }

// endingGrace is how long the living pods may take to report once a run is
// being ended for this reason.
func endingGrace(reason string) time.Duration {
	switch reason {
	case v1alpha1.ReasonStopped, v1alpha1.ReasonTimedOut, v1alpha1.ReasonGuardStopped:
		return stopGrace
	}
	return failureGrace
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
