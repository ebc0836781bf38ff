package etcd

import (
	"context"
	"strconv"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// competitor is one client's connection that repeatedly competes for one name.
type competitor struct {
	*contender
}

func newCompetitor(ctx context.Context, c *conn, client int, by func(*contender) locker) (load.Conn, error) {
	k, err := c.newContender(ctx, client, c.driver.plan.ContestName(client), by)
	return &competitor{k}, err
}

// Do implements load.Conn.
func (c *competitor) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	ctx, cancel := context.WithTimeout(c.enter(ctx), req.Timeout)
	defer cancel()
	*resp = load.Response{}
	switch {
	case req.Operation.Inner() != "":
		c.win(ctx, resp)
	case req.Operation.IsPart():
		c.yield(ctx, resp)
	default:
		resp.Unknown(req.Operation)
		return
	}
	if !resp.Succeeded() {
		c.driver.handOffs.Forget(c.key)
		c.leaveQueue(ctx, resp)
	}
}

// win waits until this client has the name, and records the previous holder.
func (c *competitor) win(ctx context.Context, resp *load.Response) {
	var before string
	resp.Sent = load.Now()
	finish(resp, c.lock(withQueue(ctx, &before)))
	if resp.Succeeded() {
		resp.InnerSince = c.driver.handOffs.Freed(before, resp.Received)
		c.driver.handOffs.Forget(c.key)
	}
}

// yield releases the name to the next client in the queue.
func (c *competitor) yield(ctx context.Context, resp *load.Response) {
	c.driver.handOffs.Begin(c.key)
	resp.Sent = load.Now()
	finish(resp, c.unlock(ctx))
	if resp.Succeeded() {
		c.driver.handOffs.End(c.key, resp.Received)
	}
}

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
