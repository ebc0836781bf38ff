package etcd

import (
	"context"
	"strconv"

	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// competitor is a connection as a client has it that contends for one name, a
// lock's or an election's, over and over.
type competitor struct {
	*contender
}

func (c *conn) newCompetitor(ctx context.Context, client int) (load.Conn, error) {
	p := c.driver.plan
	by := byMutex
	if p.Workload.Type == plan.WorkloadElection {
		by = byElection(strconv.Itoa(client))
	}
	k, err := c.newContender(ctx, client, p.ContestName(client), by)
	return &competitor{k}, err
}

// Do implements load.Conn.
func (c *competitor) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	ctx, cancel := context.WithTimeout(c.enter(ctx), req.Timeout)
	defer cancel()
	*resp = load.Response{}
	switch req.Operation {
	case results.OperationLockAcquire, results.OperationElectionCampaign:
		c.win(ctx, resp)
	case results.OperationLockRelease, results.OperationElectionResign:
		c.yield(ctx, resp)
	}
	if !resp.Succeeded() {
		c.driver.handOffs.forget(c.key)
		c.giveUp(ctx, resp)
	}
}

// win waits until the name is this client's, and looks whose it was before.
func (c *competitor) win(ctx context.Context, resp *load.Response) {
	var before string
	resp.Sent = load.Now()
	finish(resp, c.lock(withQueue(ctx, &before)))
	if resp.Succeeded() {
		resp.Freed = c.driver.handOffs.freed(before, resp.Received)
		c.driver.handOffs.forget(c.key)
	}
}

// yield gives the name to whoever waits for it.
func (c *competitor) yield(ctx context.Context, resp *load.Response) {
	c.driver.handOffs.begin(c.key)
	resp.Sent = load.Now()
	finish(resp, c.unlock(ctx))
	if resp.Succeeded() {
		c.driver.handOffs.end(c.key, resp.Received)
	}
}

// electionLocker takes the leadership of an election for a lock. Its value is
// the leader's name.
type electionLocker struct {
	election *concurrency.Election
	value    string
}

// byElection lets a client stand under a name of its own.
func byElection(value string) func(*contender) locker {
	return func(k *contender) locker {
		return &electionLocker{concurrency.NewElection(k.session, k.name), value}
	}
}

func (l *electionLocker) lock(ctx context.Context) error   { return l.election.Campaign(ctx, l.value) }
func (l *electionLocker) unlock(ctx context.Context) error { return l.election.Resign(ctx) }
