package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Timeout bounds one attempt of a control request.
const Timeout = 10 * time.Second

// LookEvery is the interval at which a driver checks for a change that another pod, or the store, makes.
const LookEvery = 250 * time.Millisecond

// A control request has this many attempts, with growing pauses that add up to 5 s. So a run survives an election, a
// rolling restart or a DNS entry that appears a second late. Each attempt is counted, and repeating one is safe. No
// attempt begins after limit, so that an error is known within half a minute.
const (
	attempts = 5
	interval = 500 * time.Millisecond
	limit    = 15 * time.Second
)

// Repeat calls try until it succeeds, or fails with an error that is not temporary. passes returns whether an error can
// be temporary.
func Repeat(ctx context.Context, passes func(error) bool, try func(context.Context) error) error {
	began := time.Now()
	for attempt := 1; ; attempt++ {
		bounded, cancel := context.WithTimeout(ctx, Timeout)
		err := try(bounded)
		cancel()
		if err == nil || !passes(err) || attempt == attempts || time.Since(began) > limit {
			return err
		}
		if err := load.Pause(ctx, time.Duration(attempt)*interval); err != nil {
			return err
		}
	}
}

// ErrClosed: a server accepted a connection and closed it before it had sent anything.
var ErrClosed = errors.New("found the end of the connection, wanted a response")

// Passes returns whether a connection error can be temporary.
func Passes(err error) bool {
	_, unresolved := errors.AsType[*net.DNSError](err)
	return unresolved || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, ErrClosed)
}

// All calls do for all addresses at the same time, with their indexes. It returns the errors in the order of the
// addresses.
func All(endpoints []string, do func(i int) error) []error {
	errs := make([]error, len(endpoints))
	var doing sync.WaitGroup
	for i := range endpoints {
		doing.Go(func() { errs[i] = do(i) })
	}
	doing.Wait()
	return errs
}

// Troubles returns the first error, and adds to it the other addresses with an error, so that a user can fix all of
// them at once. errs are as All returns them.
func Troubles(endpoints []string, errs []error) error {
	var first error
	var others []string
	for i, err := range errs {
		switch {
		case err == nil:
		case first == nil:
			first = err
		default:
			others = append(others, fmt.Sprintf("%s (%s)", endpoints[i], load.FailureOf(err).Reason))
		}
	}
	cause, ok := errors.AsType[*load.Error](first)
	if !ok || len(others) == 0 {
		return first
	}
	message := fmt.Sprintf("%s; these of the %d addresses cannot be used either: %s", cause.Message, len(errs), strings.Join(others, ", "))
	return &load.Error{Reason: cause.Reason, Message: message, Err: first}
}

// advice ends the message about addresses that the run could leave out.
const advice = ". To measure the addresses that answer, set spec.target.unreachableMembers: Skip"

// Reachable returns the indexes of the addresses to load, given the errors of all of them. Addresses that do not answer
// are skipped if the target says so and others answer; skipped has the reason for each of them. Otherwise any error is an
// error, as Troubles returns it.
func Reachable(t plan.Target, errs []error) (reached []int, skipped map[string]string, err error) {
	skipped = map[string]string{}
	for i, err := range errs {
		switch {
		case err == nil:
			reached = append(reached, i)
		case doesNotAnswer(err):
			skipped[t.Endpoints[i]] = text.Printable(err.Error())
		}
	}
	if len(skipped) == 0 || len(reached) == 0 || len(reached)+len(skipped) < len(errs) {
		return reached, nil, Troubles(t.Endpoints, errs)
	}
	if t.UnreachableMembers == spec.UnreachableSkip {
		return reached, skipped, nil
	}
	cause := load.FailureOf(Troubles(t.Endpoints, errs))
	return nil, nil, &load.Error{Reason: cause.Reason, Message: cause.Message + advice, Err: Troubles(t.Endpoints, errs)}
}

// Pick returns the elements at these indexes.
func Pick[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, index := range at {
		out[i] = all[index]
	}
	return out
}

// doesNotAnswer reports whether nothing answers at an address. Something that is not the store is a mistake in the address,
// and no reason to skip it.
func doesNotAnswer(err error) bool {
	reason, _ := Network("", err)
	return reason != "" && IsUnreachable(err)
}

// IsUnreachable reports whether an address does not answer; one that answers with an error can be reached.
func IsUnreachable(err error) bool {
	e, ok := errors.AsType[*load.Error](err)
	return ok && e.Reason == results.FailureTargetUnreachable
}

// Explanation returns a reason, and the part of the message that follows the address. Both are empty for an error that
// it does not know.
type Explanation func(error) (reason results.FailureReason, what string)

// Explain turns an error of an address into a reason and a message, by the first explanation that knows the error. An
// error that has a reason already keeps it.
func Explain(err error, endpoint string, explanations ...Explanation) error {
	if _, ok := errors.AsType[*load.Error](err); ok || err == nil {
		return err
	}
	for _, known := range explanations {
		if reason, what := known(err); reason != "" {
			return load.Errorf(reason, "%s %s: %w", endpoint, what, err)
		}
	}
	return load.Errorf(results.FailureTargetUnreachable, "requests to %s fail: %w", endpoint, err)
}

// Settled is the error that a method of a driver returns: the reason why ctx ended, if it has, and otherwise what explain makes
// of the error of an address.
func Settled(ctx context.Context, err error, explain func(err error, address string) error, address string) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if deadline, ok := ctx.Deadline(); err != nil && ok && !time.Now().Before(deadline) {
		// gRPC has noticed the deadline just before ctx does.
		return context.DeadlineExceeded
	}
	return explain(err, address)
}

// Network explains errors of the network. store is the name of the store.
func Network(store string, err error) (results.FailureReason, string) {
	const reason = results.FailureTargetUnreachable
	timedOut := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return reason, "does not resolve to an address; check the spelling of the name, and that its Service exists"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return reason, "refuses connections; check that " + store + " runs there and serves clients on this port"
	}
	if errors.Is(err, ErrClosed) {
		return reason, "accepts connections and closes them at once. A load balancer or proxy there probably has no live member behind it; check the health of its members, or use the members' own addresses"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "read" && timedOut {
		return reason, "accepts connections and does not answer; check that the process there is " + store + ", and that it is neither stopped nor hanging"
	}
	if timedOut {
		return reason, "does not answer; check the network policies and firewalls between the load generator and the target"
	}
	return "", ""
}
