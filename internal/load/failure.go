package load

import (
	"errors"
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Error is why a session could not do its part. The operator shows its message.
type Error struct {
	// Reason becomes the reason of the run's condition.
	Reason results.FailureReason
	// Message names what failed and says what to do.
	Message string
	// Err is the cause; nil if there is none.
	Err error
}

// Errorf returns an Error. A %w in the format keeps the cause.
func Errorf(reason results.FailureReason, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Reason: reason, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Error returns the reason and the message.
func (e *Error) Error() string { return string(e.Reason) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// FailureOf returns the failure that an error of Run reports to the operator; nil for a nil error. An error without its
// own reason is FailurePodFailed.
func FailureOf(err error) *results.Failure {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return &results.Failure{Reason: e.Reason, Message: e.Message}
	}
	return &results.Failure{Reason: results.FailurePodFailed, Message: err.Error()}
}

// refuses reports whether a failed claim was refused before it could write.
func refuses(r results.FailureReason) bool {
	switch r {
	case results.FailurePrefixNotEmpty, results.FailureAuthenticationFailed, results.FailureTLSFailed, results.FailureSecretInvalid:
		return true
	}
	return false
}
