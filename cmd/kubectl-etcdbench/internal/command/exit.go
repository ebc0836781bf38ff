package command

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// Exit statuses.
const (
	exitDone = iota
	// exitMissed: the run completed or partly completed, and missed an objective.
	exitMissed
	// exitFailed: the run could not start, or failed, or none of its requests succeeded.
	exitFailed
	// exitUnknown: the verdict is Unknown, the run was stopped or lost a client pod, or its result is not known.
	exitUnknown
)

// exitHelp is a part of the help of each command that has these statuses.
const exitHelp = `Exit status:
  0  The run completed; every objective was met, or there are none.
  1  The run completed or partly completed, and missed an objective.
  2  One of:
     - the run could not start: a wrong flag, a bad manifest, an unreachable target, …
     - the run failed, for example as TimedOut, PodFailed or GuardStopped
     - no request succeeded, and no objective was missed because of that
  3  One of:
     - the verdict is Unknown, for example because the client was the limit
     - the run ended as Stopped (even if it missed an objective), or as PartlyCompleted
       and missed none
     - the command ended before the result was known`

// exitError is an exit status, and optionally an error to print.
type exitError struct {
	status int
	err    error
}

// Error implements error.
func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// statusOf is the exit status of an error. An error without a status means that the run could not start.
func statusOf(err error) (status int, message string) {
	if err == nil {
		return exitDone, ""
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		if e.err == nil {
			return e.status, ""
		}
		return e.status, err.Error()
	}
	return exitFailed, err.Error()
}

// statusOfRun is the exit status of a finished run.
func statusOfRun(run *v1alpha1.EtcdBenchmark) int {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	if finished == nil || finished.Status != metav1.ConditionTrue || verdict.CouldNotRun(finished.Reason) {
		return exitFailed
	}
	if finished.Reason == v1alpha1.ReasonStopped {
		return exitUnknown
	}
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	switch {
	case passed != nil && passed.Status == metav1.ConditionFalse:
		return exitMissed
	case nothingSucceeded(run.Status.Summary):
		return exitFailed
	case finished.Reason == v1alpha1.ReasonPartlyCompleted:
		return exitUnknown
	case passed == nil || passed.Status == metav1.ConditionTrue:
		return exitDone
	}
	return exitUnknown
}

// nothingSucceeded reports whether requests were measured and none of them succeeded.
func nothingSucceeded(s *v1alpha1.Summary) bool {
	return s != nil && s.MeasuredRequests > 0 && s.FailedRequests+s.CensoredRequests == s.MeasuredRequests
}
