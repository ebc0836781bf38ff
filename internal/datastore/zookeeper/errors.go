package zookeeper

import (
	"context"
	"errors"
	"net"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
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
	{zk.ErrNoNode, load.CodeNotFound},
	{zk.ErrNodeExists, "AlreadyExists"},
	{zk.ErrNoAuth, "PermissionDenied"},
	{zk.ErrAuthFailed, "Unauthenticated"},
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
	return "Unknown"
}

// passes returns whether an error can be temporary.
func passes(err error) bool {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return false
	}
	return remote.Passes(err) || errors.Is(err, errNotServing) || errors.Is(err, errHungUp) || errors.Is(err, errNoAnswer) || codeOf(err) == load.CodeUnavailable
}

// explain adds a reason and advice to an error of an address.
func explain(err error, endpoint string) error {
	return remote.Explain(err, endpoint, ofServers, func(err error) (results.FailureReason, string) {
		return remote.Network("ZooKeeper", err)
	})
}

// ofServers explains errors that are specific to ZooKeeper.
func ofServers(err error) (results.FailureReason, string) {
	switch {
	case errors.Is(err, errNotServing):
		return results.FailureNoQuorum, "has no quorum and refuses requests: a majority of the servers is not up, or they do not reach each other"
	case errors.Is(err, errNotZooKeeper):
		return results.FailureTargetUnhealthy, "does not answer the command srvr as ZooKeeper does; check that it is ZooKeeper, and that it serves clients without TLS on this port"
	case errors.Is(err, errHungUp):
		return results.FailureTargetUnhealthy, "closes a new connection without a response, as ZooKeeper does with " +
			"a client address that has maxClientCnxns connections already (all clients behind that address add " +
			"up); lower spec.load.connections, or raise maxClientCnxns in zoo.cfg. A server without a quorum does " +
			"so too, and so does a load balancer without a live server"
	case errors.Is(err, zk.ErrNoAuth):
		return results.FailureTargetUnhealthy, "refuses because of its ACLs; the run needs a prefix in which every client may create and delete: choose another spec.target.keyPrefix"
	}
	return "", ""
}
