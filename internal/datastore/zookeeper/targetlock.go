package zookeeper

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
)

// lockNode is the lock of an ensemble: an ephemeral znode of client pod 0. It has a session of its own, because the
// control session is replaced when a server does not answer. The ensemble keeps it until that session has timed out.
const lockNode = "/etcdbench-lock"

// targetLock is ownership.LockStore for ZooKeeper.
type targetLock struct{ *claims }

// SeeLock implements ownership.LockStore.
func (l targetLock) SeeLock(ctx context.Context) (seen ownership.LockSeen, err error) {
	found, err := l.driver.read(ctx, lockNode)
	if err == zk.ErrNoAuth {
		err = ownership.ErrNoLock
	}
	if err != nil || !found.exists {
		return seen, err
	}
	return ownership.LockSeen{Exists: true, Content: []byte(found.data)}, nil
}

// MakeLock implements ownership.LockStore, in the session of the lock. After a timeout the request continues, and the next
// look finds the znode.
func (l targetLock) MakeLock(ctx context.Context, content []byte) (made bool, err error) {
	s, err := l.driver.lockSession(ctx)
	if err != nil {
		return false, err
	}
	s.setPhase(ctx)
	_, err = within(ctx, func() (string, error) { return s.Create(lockNode, content, zk.FlagEphemeral, l.driver.lockACL()) })
	switch err {
	case zk.ErrNodeExists:
		return false, nil
	case zk.ErrNoAuth:
		return false, ownership.ErrNoLock
	}
	return err == nil, err
}

// lockSession is opened with the first lock, and lasts until FreeLock or as long as the driver.
func (d *Driver) lockSession(ctx context.Context) (*session, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.locking != nil {
		return d.locking, nil
	}
	s, err := d.open(ctx, controlTimeout, controlFrame, d.plan.Target.Endpoints...)
	if err == nil {
		d.locking = s
	}
	return s, err
}

// lockACL lets every run see who holds the lock.
func (d *Driver) lockACL() []zk.ACL {
	if d.plan.Target.Auth == nil {
		return everybody
	}
	return append(zk.WorldACL(zk.PermRead), d.acl()...)
}

// RenewLock implements ownership.LockStore: the session of the lock renews it.
func (targetLock) RenewLock(context.Context, ownership.LockSeen) (renewed bool, err error) {
	return true, nil
}

// FreeLock implements ownership.LockStore. It ends the session of the lock, which can end no lock of another run. The lock of a
// lost driver of this run expires.
func (l targetLock) FreeLock(ctx context.Context, _ func([]byte) bool) error {
	l.driver.mutex.Lock()
	s := l.driver.locking
	l.driver.locking = nil
	l.driver.mutex.Unlock()
	if s != nil {
		s.setPhase(ctx)
		s.close()
	}
	return nil
}
