package etcd

import (
	"cmp"
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

var isolations = map[spec.Isolation]concurrency.Isolation{
	spec.IsolationSerializableSnapshot: concurrency.SerializableSnapshot,
	spec.IsolationSerializable:         concurrency.Serializable,
	spec.IsolationRepeatableReads:      concurrency.RepeatableReads,
	spec.IsolationReadCommitted:        concurrency.ReadCommitted,
}

// transaction is one request by software transactional memory.
type transaction struct {
	isolation concurrency.Isolation
	keys      []string
	// values are for the first keys.
	values   []string
	attempts uint64
}

// newTransaction copies the request's bytes before the clock is read.
func newTransaction(s *spec.STM, req *load.Request) *transaction {
	t := &transaction{
		isolation: isolations[s.Isolation],
		keys:      make([]string, len(req.Pairs)), values: make([]string, req.Writes),
	}
	for i, p := range req.Pairs {
		t.keys[i] = string(p.Key)
		if i < req.Writes {
			t.values[i] = string(p.Value)
		}
	}
	return t
}

// run tries until the transaction commits, fails, or ctx ends.
func (t *transaction) run(ctx context.Context, client *clientv3.Client, resp *load.Response) error {
	_, err := concurrency.NewSTM(client, t.attempt, concurrency.WithIsolation(t.isolation), concurrency.WithAbortContext(ctx))
	if err == nil {
		resp.Attempts = t.attempts
	}
	return err
}

// doSTM runs a transaction without a lock.
func doSTM(ctx context.Context, d *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	resp.Sent = load.Now()
	finish(resp, newTransaction(d.plan.Workload.STM, req).run(ctx, client, resp))
}

var errKeyNotThere = status.Error(codes.NotFound, "a key does not exist (a member that lags behind may not have it yet)")

// attempt reads each key, and writes the first ones after reading them. clientv3 commits.
func (t *transaction) attempt(s concurrency.STM) error {
	t.attempts++
	for i, key := range t.keys {
		s.Get(key)
		// The key was just read, so this returns its revision without a request.
		if s.Rev(key) == 0 {
			return errKeyNotThere
		}
		if i < len(t.values) {
			s.Put(key, t.values[i])
		}
	}
	return nil
}

// lockedSTM is one client's connection whose transactions run one at a time, over all clients.
type lockedSTM struct {
	*contender
}

// newLockedSTM is for runs whose transactions are locked.
func newLockedSTM(ctx context.Context, c *conn, client int) (load.Conn, error) {
	p := c.driver.plan
	if !p.UsesSessions() {
		return nil, nil
	}
	by := byMutex
	if p.Workload.STM.Locker == spec.LockerRPC {
		by = byRPC
	}
	k, err := c.newContender(ctx, client, p.STMLock(), by)
	return &lockedSTM{k}, err
}

// Do implements load.Conn. The lock is released even if the transaction failed.
func (l *lockedSTM) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	if req.Operation != spec.OperationSTM {
		l.conn.Do(ctx, req, resp)
		return
	}
	ctx, cancel := context.WithTimeout(l.enter(ctx), req.Timeout)
	defer cancel()
	*resp = load.Response{}
	t := newTransaction(l.driver.plan.Workload.STM, req)
	resp.Sent = load.Now()
	err := l.lock(ctx)
	if err == nil {
		err = cmp.Or(t.run(ctx, l.client.Load(), resp), l.unlock(ctx))
	}
	finish(resp, err)
	if err != nil {
		l.leaveQueue(ctx, resp)
	}
}
