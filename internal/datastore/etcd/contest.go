package etcd

import (
	"context"

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
	case req.Operation.HandOff() != "":
		c.win(ctx, resp)
	case req.Operation.IsPart():
		c.yield(ctx, resp)
	default:
		resp.Unknown(req.Operation)
		return
	}
	if !resp.Succeeded() {
		c.driver.handOffs.forget(c.key)
		c.leaveQueue(ctx, resp)
	}
}

// win waits until this client has the name, and records the previous holder.
func (c *competitor) win(ctx context.Context, resp *load.Response) {
	var before string
	resp.Sent = load.Now()
	finish(resp, c.lock(withQueue(ctx, &before)))
	if resp.Succeeded() {
		resp.Freed = c.driver.handOffs.freed(before, resp.Received)
		c.driver.handOffs.forget(c.key)
	}
}

// yield releases the name to the next client in the queue.
func (c *competitor) yield(ctx context.Context, resp *load.Response) {
	c.driver.handOffs.begin(c.key)
	resp.Sent = load.Now()
	finish(resp, c.unlock(ctx))
	if resp.Succeeded() {
		c.driver.handOffs.end(c.key, resp.Received)
	}
}
