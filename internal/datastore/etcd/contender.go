package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// contender is a connection as a client has it that contends with others for a
// name. It has a session: a lease of the run, which is kept alive over the
// control connection, as it must outlast a move of the load's.
type contender struct {
	*conn
	lease clientv3.LeaseID
	// name is that of the lock, and key what this client writes to have it: the
	// name and a slash before the lease.
	name, key string
	// by makes the locker of a session.
	by func(*contender) locker

	session *concurrency.Session
	locker  locker
}

// locker takes and gives back a lock.
type locker interface {
	lock(ctx context.Context) error
	unlock(ctx context.Context) error
}

// newContender returns the client with this global number, with its session.
func (c *conn) newContender(ctx context.Context, client int, name string, by func(*contender) locker) (*contender, error) {
	d := c.driver
	lease := d.plan.LeaseID(workload.LeaseOfClient, int64(client))
	k := &contender{conn: c, name: name, key: fmt.Sprintf("%s/%x", name, lease), by: by, lease: clientv3.LeaseID(lease)}
	if err := k.open(ctx); err != nil {
		return nil, settled(ctx, err, d.addresses())
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.contenders = append(d.contenders, k)
	return k, nil
}

// open grants the lease and keeps it alive from now on. Whoever needs it, that is
// no request of the load.
func (k *contender) open(ctx context.Context) error {
	ctx = load.WithPhase(ctx, results.PhaseControl)
	control, err := k.driver.controlClient(ctx)
	if err != nil {
		return err
	}
	if err := grantSession(ctx, control, k.lease); err != nil {
		return err
	}
	client := k.locks.of(k.conn, control)
	k.session, err = concurrency.NewSession(client, concurrency.WithLease(k.lease), concurrency.WithContext(context.Background()))
	if err == nil {
		k.locker = k.by(k)
	}
	return err
}

// grantSession grants a lease. One that is there already came from an attempt
// whose answer was lost: before its first lease, the run made sure that nobody
// else has its IDs.
func grantSession(ctx context.Context, client *clientv3.Client, id clientv3.LeaseID) error {
	return repeat(ctx, func(ctx context.Context) error {
		_, err := leases(client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{ID: int64(id), TTL: workload.SessionTTLSeconds})
		if codeOf(err) == codes.FailedPrecondition {
			return nil
		}
		return err
	})
}

// enter returns the context of a request, whose phase is also that of the
// messages that the connection's watches send from now on.
func (k *contender) enter(ctx context.Context) context.Context {
	k.locks.phase.Store(load.PhaseOf(ctx))
	return withStreamPhase(ctx, k.locks.currentPhase)
}

var errSessionLost = status.Error(codes.NotFound, "the client's lease is not there any more: it could not be renewed in time, and its lock went with it")

// lock takes the lock. A session that was lost is replaced first.
func (k *contender) lock(ctx context.Context) error {
	if k.lost() {
		if err := k.open(ctx); err != nil {
			return err
		}
	}
	err := k.locker.lock(ctx)
	if errors.Is(err, concurrency.ErrSessionExpired) {
		return errSessionLost
	}
	return err
}

// unlock gives the lock back. It fails if somebody else may have had the lock
// since it was taken.
func (k *contender) unlock(ctx context.Context) error {
	err := k.locker.unlock(ctx)
	if err == nil && k.lost() {
		return errSessionLost
	}
	return err
}

func (k *contender) lost() bool {
	select {
	case <-k.session.Done():
		return true
	default:
		return false
	}
}

// giveUpLimit bounds the deletion of a lock that was asked for and not had.
const giveUpLimit = 2 * time.Second

// giveUp deletes what a request that failed may have left, so that others need
// not wait for it. What it cannot delete goes with the session's lease.
func (k *contender) giveUp(ctx context.Context, resp *load.Response) {
	ctx, cancel := context.WithTimeout(load.WithPhase(context.WithoutCancel(ctx), results.PhaseControl), giveUpLimit)
	defer cancel()
	_, _ = k.client.Load().Delete(ctx, k.key)
	resp.Cleared = load.Now()
}

// endSessions ends the sessions of this pod's clients and revokes their leases,
// so that a lock that was not given back does not keep other pods waiting. What
// cannot be revoked here is found by whoever revokes the run's leases.
func (d *Driver) endSessions(ctx context.Context, client *clientv3.Client) {
	d.mutex.Lock()
	ended := d.contenders
	d.contenders = nil
	d.mutex.Unlock()
	ids := make([]clientv3.LeaseID, len(ended))
	for i, k := range ended {
		k.session.Orphan()
		k.locks.close()
		ids[i] = k.lease
	}
	_ = revokeSome(ctx, client, ids)
}
