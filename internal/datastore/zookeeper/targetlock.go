package zookeeper

import (
	"context"
	"encoding/json"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// lockNode is the lock of an ensemble: an ephemeral znode of client pod 0. It has a session of its own, because the
// control session is replaced when a server does not answer.
const lockNode = "/etcdbench-lock"

// lockContent is the content of the znode. It has no name: other tenants can read it.
type lockContent struct {
	RunUID string    `json:"runUID"`
	Since  time.Time `json:"since"`
}

// Look implements load.Locker.
func (d *Driver) Look(ctx context.Context) (load.Holder, error) {
	found, err := d.read(ctx, lockNode)
	switch {
	case err == zk.ErrNoAuth:
		return load.Holder{State: load.NoLock}, nil
	case err != nil:
		return load.Holder{}, settled(ctx, err, d.addresses())
	}
	holder := d.lockHolder(found)
	if !found.exists || holder.State == load.Held {
		return load.Holder{State: load.Free}, nil
	}
	return holder, nil
}

// Lock implements load.Locker.
func (d *Driver) Lock(ctx context.Context) (load.Holder, error) {
	holder, err := d.holdLock(ctx)
	return holder, settled(ctx, err, d.addresses())
}

func (d *Driver) holdLock(ctx context.Context) (load.Holder, error) {
	// Looking is a read. A create is a write of all servers, also one that fails.
	found, err := d.read(ctx, lockNode)
	if err == nil && !found.exists && d.index > 0 {
		return load.Holder{State: load.Free}, nil
	}
	if err == nil && !found.exists {
		content, _ := json.Marshal(lockContent{RunUID: d.plan.RunUID, Since: time.Now().UTC().Truncate(time.Second)})
		err = d.createLock(ctx, content)
		if err == nil {
			return load.Holder{State: load.Held}, nil
		}
		if err == zk.ErrNodeExists {
			found, err = d.read(ctx, lockNode)
		}
	}
	switch {
	case err == zk.ErrNoAuth:
		return load.Holder{State: load.NoLock}, nil
	case err != nil:
		return load.Holder{}, err
	}
	return d.lockHolder(found), nil
}

// createLock creates the znode in the session of the lock. After a timeout the request continues, and the next look finds
// the znode.
func (d *Driver) createLock(ctx context.Context, content []byte) error {
	s, err := d.lockSession(ctx)
	if err != nil {
		return err
	}
	s.setPhase(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := s.Create(lockNode, content, zk.FlagEphemeral, everybody)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(answerTimeout):
		return errNoAnswer
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lockSession is opened with the first lock, and lasts as long as the driver.
func (d *Driver) lockSession(ctx context.Context) (*session, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.locking != nil {
		return d.locking, nil
	}
	s, err := d.open(ctx, controlFrame, d.plan.Target.Endpoints...)
	if err == nil {
		d.locking = s
	}
	return s, err
}

func (d *Driver) lockHolder(found node) load.Holder {
	var content lockContent
	if err := json.Unmarshal([]byte(found.data), &content); err != nil || content.RunUID == "" {
		return load.Holder{State: load.HeldByUnknown}
	}
	if content.RunUID == d.plan.RunUID {
		return load.Holder{State: load.Held}
	}
	return load.Holder{State: load.HeldByOther, RunUID: content.RunUID, Since: content.Since}
}

// Unlock implements load.Locker.
func (d *Driver) Unlock(ctx context.Context) error {
	found, err := d.read(ctx, lockNode)
	if err != nil || !found.exists || d.lockHolder(found).State != load.Held {
		return settled(ctx, err, d.addresses())
	}
	// A transaction of one operation: its request is counted.
	_, why, err := d.commit(ctx, deleteNode(lockNode))
	if err == nil && why != zk.ErrNoNode {
		err = why
	}
	return settled(ctx, err, d.addresses())
}
