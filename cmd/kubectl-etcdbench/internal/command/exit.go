package command

import (
	"errors"
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// Exit statuses.
const (
	exitDone = iota
	// exitMissed: the run completed or partly completed, and missed an objective.
	exitMissed
	// exitFailed: the run could not start, or failed, or none of its requests succeeded, or it left keys in the target,
	// or its result could not be written.
	exitFailed
	// exitUnknown: the verdict is Unknown, the run was stopped or lost a client pod, or the command ended before the
	// result was known.
	exitUnknown
)

// exitHelp is a part of the help of each command that has these statuses.
const exitHelp = `Exit status, the first line that applies:
  3  The command ended before the result was known: because of --timeout, because it
     was interrupted, because the run was deleted, or because the command could no
     longer read the run.
  2  The run could not start: a wrong flag, a bad manifest, an unreachable target, …
     Or "watch" did not find the run, or the result could not be written.
  2  The run failed, for example as TimedOut, PodFailed or GuardStopped.
  3  The run ended as Stopped.
  1  The run missed an objective.
  2  No request succeeded.
  3  Client pods were lost (PartlyCompleted), or the verdict is Unknown, for example
     because the load generator was a limit.
  2  Keys of the run are left in the target.
  3  --strict is set, the run has no objectives, and its numbers are in doubt.
  0  Otherwise: every objective was met, or there are none.`

// checkExitHelp is the same for check.
const checkExitHelp = `Exit status, the first line that applies:
  3  The command was interrupted before the result was known.
  2  The run could not start: a wrong flag, an unreachable target, …
     Or the result could not be written.
  2  The run failed, for example as TimedOut or GuardStopped.
  3  The run ended as Stopped.
  1  A limit was exceeded.
  2  No request succeeded.
  3  The verdict is Unknown, for example because the load generator was a limit.
  2  Keys of the run are left in the target.
  0  Otherwise: every limit was kept.`

// suiteExitHelp is the same for suites.
const suiteExitHelp = `Exit status of a suite, the first line that applies:
  3  As above: the command ended before the result was known.
  2  The suite could not start, or one of its cells was refused (InvalidCell).
  3  The suite ended as Stopped.
  1  A run missed an objective, or a metric regressed.
  2  A run, and any repetition of it, failed before its load was complete.
  3  An objective or a comparison could not be judged.
  2  Keys of a run are left in the target.
  3  --strict is set, and the numbers of a run cannot be compared (not for a search).
  0  Otherwise.`

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

// statusOf is the exit status of an error. An error without a status means that the run could not start, or that its
// result could not be written.
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

// exits are the exit statuses of endings. A command ends as Unfinished only if it could not start.
var exits = map[verdict.Ending]int{
	verdict.Done: exitDone, verdict.Missed: exitMissed, verdict.Failed: exitFailed, verdict.Open: exitUnknown, verdict.KeysLeft: exitFailed,
	verdict.Unfinished: exitFailed,
}

// statusOfRun is the exit status of a finished run.
func statusOfRun(run *v1alpha1.EtcdBenchmark) int { return exits[verdict.EndingOf(run)] }

// statusOfSuite is the exit status of a finished suite.
func statusOfSuite(s *v1alpha1.EtcdBenchmarkSuite) int { return exits[suite.EndingOf(s)] }
