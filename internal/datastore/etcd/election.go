package etcd

import (
	"context"
	"strconv"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// newCandidate competes in an election, under a name of its own.
func newCandidate(ctx context.Context, c *conn, client int) (load.Conn, error) {
	return newCompetitor(ctx, c, client, func(k *contender) locker {
		return &electionLocker{concurrency.NewElection(k.session, k.name), strconv.Itoa(client)}
	})
}

// electionLocker is the leadership of an election as a lock. Its value is the leader's name.
type electionLocker struct {
	election *concurrency.Election
	value    string
}

func (l *electionLocker) lock(ctx context.Context) error   { return l.election.Campaign(ctx, l.value) }
func (l *electionLocker) unlock(ctx context.Context) error { return l.election.Resign(ctx) }
