package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"net"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// codeNames maps errors to the codes that all drivers use. Other errors are Unknown.
var codeNames = []struct {
	err  error
	name string
}{
	{context.DeadlineExceeded, load.CodeDeadlineExceeded},
	{context.Canceled, load.CodeCanceled},
	{zk.ErrClosing, load.CodeCanceled},
	{zk.ErrConnectionClosed, load.CodeUnavailable},
	{zk.ErrNoServer, load.CodeUnavailable},
	{zk.ErrSessionExpired, load.CodeUnavailable},
	{zk.ErrSessionMoved, load.CodeUnavailable},
	{errHungUp, load.CodeUnavailable},
	{errNoSession, load.CodeUnavailable},
	{zk.ErrNoNode, load.CodeNotFound},
	{zk.ErrNodeExists, "AlreadyExists"},
	{zk.ErrNoAuth, "PermissionDenied"},
	{zk.ErrAuthFailed, "Unauthenticated"},
}

// unnamed are the errors of servers that go-zookeeper only numbers, with ZooKeeper's names.
var unnamed = map[string]struct{ name, code string }{
	"unknown error: -4":   {"CONNECTIONLOSS", load.CodeUnavailable},
	"unknown error: -6":   {"UNIMPLEMENTED", load.CodeUnimplemented},
	"unknown error: -7":   {"OPERATIONTIMEOUT", load.CodeDeadlineExceeded},
	"unknown error: -122": {"REQUESTTIMEOUT", load.CodeDeadlineExceeded},
	"unknown error: -124": {"SESSIONCLOSEDREQUIRESASLAUTH", "Unauthenticated"},
	"unknown error: -125": {"QUOTAEXCEEDED", "ResourceExhausted"},
	"unknown error: -127": {"THROTTLEDOP", "ResourceExhausted"},
}

// codeOf returns the code of an error.
func codeOf(err error) string {
	for _, c := range codeNames {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return load.CodeUnavailable
	}
	return cmp.Or(unnamed[err.Error()].code, "Unknown")
}

// detailOf returns the words of an error.
func detailOf(err error) string {
	if known, is := unnamed[err.Error()]; is {
		return err.Error() + " (" + known.name + ")"
	}
	return err.Error()
}

// passes returns whether an error can be temporary.
func passes(err error) bool {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return false
	}
	return remote.Passes(err) || errors.Is(err, errNotServing) || errors.Is(err, errHungUp) || errors.Is(err, errNoAnswer) || codeOf(err) == load.CodeUnavailable
}

// explain adds a reason and advice to an error of an address.
func (d *Driver) explain(err error, endpoint string) error {
	if creds, wrong := d.credentials(); wrong == nil {
		err = creds.TLS.Refusal(err)
	}
	return remote.Explain(err, endpoint, ofServers, secrets.Explain, func(err error) (results.FailureReason, string) {
		return remote.Network("ZooKeeper", err)
	})
}

// ofServers explains errors that are specific to ZooKeeper.
func ofServers(err error) (results.FailureReason, string) {
	switch {
	case errors.Is(err, errNotServing):
		return results.FailureNoQuorum, "has no quorum and refuses requests: a majority of the servers is not up, or they do not reach each other"
	case errors.Is(err, errNotZooKeeper):
		return results.FailureTargetUnhealthy, "does not answer the command srvr as ZooKeeper does; check that it is ZooKeeper, and whether it serves TLS on this port (spec.target.tls)"
	case errors.Is(err, errHungUp):
		return results.FailureTargetUnhealthy, "closes a new connection without a response, as ZooKeeper does with " +
			"a client address that has maxClientCnxns connections already (all clients behind that address add " +
			"up); lower spec.load.connections, or raise the servers' maxClientCnxns. A server without a quorum does " +
			"so too, and so does a load balancer without a live server, or a port that serves TLS"
	case errors.Is(err, zk.ErrAuthFailed):
		return results.FailureAuthenticationFailed, "does not know the user; check spec.target.auth"
	case errors.Is(err, zk.ErrNoAuth):
		return results.FailureTargetUnhealthy, "refuses because of its ACLs; the run needs a prefix in which it may create and delete: choose another spec.target.keyPrefix, or give a user in spec.target.auth"
	}
	return "", ""
}
