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

// contender is one client's connection that competes with others for a lock. It has a session: a lease of the run,
// which is kept alive over the control connection, because it must survive a move of the load's connection.
type contender struct {
	*conn
	lease clientv3.LeaseID
	// name is the name of the lock. key is what this client writes to request it: the name, a slash and the lease.
	name, key string
	// by makes the locker of a session.
	by func(*contender) locker

	session *concurrency.Session
	locker  locker
}

// locker acquires and releases a lock.
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

// open grants the lease and keeps it alive from now on. This always counts as a control request.
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

// grantSession grants a lease. If the lease exists, an earlier attempt was granted and its response was lost: the run
// has checked, before its first lease, that its IDs are unused.
func grantSession(ctx context.Context, client *clientv3.Client, id clientv3.LeaseID) error {
	return repeat(ctx, func(ctx context.Context) error {
		_, err := leases(client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{ID: int64(id), TTL: workload.SessionTTLSeconds})
		if codeOf(err) == codes.FailedPrecondition {
			return nil
		}
		return err
	})
}

// enter returns the context of a request, and sets the phase for the messages that the connection's watches send from
// now on.
func (k *contender) enter(ctx context.Context) context.Context {
	k.locks.phase.Store(load.PhaseOf(ctx))
	return withStreamPhase(ctx, k.locks.currentPhase)
}

var errSessionLost = status.Error(codes.NotFound, "the client's lease expired, because it was not renewed in time; its lock was deleted with it")

// lock acquires the lock. It first replaces a lost session.
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

// unlock releases the lock. It fails if the session was lost, because then another client may have had the lock
// meanwhile.
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

// leaveQueueTimeout bounds the deletion of the key of a failed lock request.
const leaveQueueTimeout = 2 * time.Second

// leaveQueue deletes the key that a failed request may have left, so that other clients need not wait for it. If the
// deletion fails, the key is deleted with the session's lease.
func (k *contender) leaveQueue(ctx context.Context, resp *load.Response) {
	ctx, cancel := context.WithTimeout(load.WithPhase(context.WithoutCancel(ctx), results.PhaseControl), leaveQueueTimeout)
	defer cancel()
	_, _ = k.client.Load().Delete(ctx, k.key)
	resp.Cleared = load.Now()
}

// endSessions ends the sessions of this pod's clients and revokes their leases, so that other pods need not wait for
// locks that were not released. Leases that cannot be revoked here are revoked later with all leases of the run.
func (d *Driver) endSessions(ctx context.Context) {
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
	_ = d.revokeSome(ctx, ids)
}
