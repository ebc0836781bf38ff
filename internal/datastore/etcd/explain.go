package etcd

import (
	"context"
	"errors"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// explain adds a reason and advice to an error of an address.
func explain(err error, endpoint string) error {
	return remote.Explain(err, endpoint, secrets.Explain, explainAuth, explainHealth, explainNetwork)
}

// explainHealth explains the errors by which etcd reports its own state.
func explainHealth(err error) (results.FailureReason, string) {
	const reason = results.FailureTargetUnhealthy
	if s, ok := status.FromError(err); ok && s.Code() == codes.DeadlineExceeded {
		return reason, "accepts requests and does not answer them; check that a majority of the members is up"
	}
	if isOfLearner(err) {
		return reason, "leads to a learner, a member without a vote that refuses this request; name the addresses of voting members"
	}
	if isFull(err) {
		return results.FailureAlarmRaised, "raised the alarm NOSPACE: " + remedies["NOSPACE"]
	}
	if _, ok := errors.AsType[rpctypes.EtcdError](err); !ok {
		return "", ""
	}
	switch codeOf(err) {
	case codes.Unavailable:
		return reason, "cannot commit; check that a majority of the members is up"
	case codes.ResourceExhausted:
		return reason, "refuses requests because it is overloaded; lower the load"
	case codes.DataLoss:
		return reason, "reports a corrupt database; do not load this cluster"
	}
	return "", ""
}

func explainNetwork(err error) (results.FailureReason, string) {
	switch {
	case errors.Is(err, errNoHTTP2):
		return results.FailureTargetUnreachable, "does not speak gRPC; check that etcd serves clients on this port"
	case codeOf(err) == codes.DeadlineExceeded:
		err = errors.Join(err, context.DeadlineExceeded)
	}
	return remote.Network("etcd", err)
}

func settled(ctx context.Context, err error, endpoint string) error {
	return remote.Settled(ctx, err, explain, endpoint)
}

func explainAuth(err error) (results.FailureReason, string) {
	const reason = results.FailureAuthenticationFailed
	text := err.Error()
	switch {
	case strings.Contains(text, rpctypes.ErrorDesc(rpctypes.ErrGRPCAuthFailed)):
		return reason, "refuses the user or the password; check spec.target.auth"
	case strings.Contains(text, rpctypes.ErrorDesc(rpctypes.ErrGRPCUserEmpty)):
		return reason, "requires a user; set spec.target.auth"
	case codeOf(err) == codes.PermissionDenied,
		// A refused watch has no code, only this text.
		strings.Contains(text, rpctypes.ErrorDesc(rpctypes.ErrGRPCPermissionDenied)):
		return reason, refusalOf(err)
	case codeOf(err) == codes.Unauthenticated:
		return reason, "does not accept the user's token"
	}
	return "", ""
}

// isFull reports whether etcd refuses a write because its database has reached its quota.
func isFull(err error) bool { return err != nil && errors.Is(rpctypes.Error(err), rpctypes.ErrNoSpace) }

// codeOf returns the gRPC status code of an error of clientv3, which wraps it in its own types.
func codeOf(err error) codes.Code {
	if e, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return e.Code()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	}
	return status.Code(err)
}

// repeat calls try until it succeeds, or fails with an error that is not temporary.
func repeat(ctx context.Context, try func(context.Context) error) error {
	return remote.Repeat(ctx, passes, try)
}

// passes returns whether an error can be temporary.
func passes(err error) bool {
	if remote.Passes(err) || errors.Is(err, errNoLeader) {
		return true
	}
	// Unauthenticated: one member knows a new token before the others do.
	code := codeOf(err)
	return code == codes.Unavailable || code == codes.Unauthenticated
}
