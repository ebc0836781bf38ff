package lifecycle

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Time limits. A failure must be reported within 60 s after it can be known; these limits leave room for the reports of
// the live pods.
const (
	// targetGrace allows a Service and a run to be applied together, in any order.
	targetGrace = 30 * time.Second
	// imageGrace covers a short fault of the registry: the kubelet tries again after 10 s.
	imageGrace = 20 * time.Second
	// refusalGrace covers a quota that is about to be freed; the Job controller tries again after 1, 2, 4 and 8 s.
	refusalGrace = 15 * time.Second
	// failureGrace is the time for the live pods to report after one pod failed: they drain for up to a request's
	// timeout, and wait up to 30 s for the others before the keys are deleted.
	failureGrace = 50 * time.Second
	// stopGrace is the time to drain, delete keys and report after a stop or after a guard's rule has fired.
	stopGrace = 90 * time.Second
	// timeoutGrace replaces stopGrace if stopGrace would end more than a minute after spec.timeoutSeconds; every run is
	// finished by then.
	timeoutGrace = 50 * time.Second
	// abandonedAfter is how long a deleted pod may still report after its grace period.
	abandonedAfter = 20 * time.Second
	// releaseGrace is when pods are deleted that have reported but are still running after their run has finished.
	releaseGrace = 2 * time.Minute
	// deletionGrace bounds how long the finalizer may keep a deleted object.
	deletionGrace = 2 * time.Minute

	// firstScrapeGrace is how long a restarted operator waits for the first scrape of a pod: two scrapes, a second
	// apart, at their maximum duration of 3 s; or one scrape of 1,000 pods, which takes 5 s if all are silent.
	firstScrapeGrace = 8 * time.Second

	// leadBase and leadPerPod are the time from the decision to the start: an annotation reaches a pod's file within
	// 0.25 s, and the operator patches a pod in less than 10 ms.
	leadBase   = time.Second
	leadPerPod = 10 * time.Millisecond
	// maxLeadAfterMiss bounds the extra lead after a missed start: the operator may have been away and be fast again.
	maxLeadAfterMiss = 10 * time.Second

	// resolveEvery is the interval for resolving a missing target again.
	resolveEvery = 2 * time.Second
	// resolveLater is the interval after targetGrace.
	resolveLater = 5 * time.Second
	// heartbeat bounds the delay after a lost event.
	heartbeat = 5 * time.Second
)

func lead(pods int32) time.Duration { return leadBase + time.Duration(pods)*leadPerPod }

// leadAfterMiss is added to the lead if a start has passed before a pod got it. Otherwise a slow operator or API server
// would miss every start.
func leadAfterMiss(late time.Duration) time.Duration { return min(2*late, maxLeadAfterMiss) }

// endingGrace is how long the live pods may take to report while the run ends for this reason.
func endingGrace(reason string) time.Duration {
	switch reason {
	case v1alpha1.ReasonStopped, v1alpha1.ReasonTimedOut, v1alpha1.ReasonGuardStopped, v1alpha1.ReasonMissedEarly:
		return stopGrace
	}
	return failureGrace
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
