package zookeeper

import (
	"context"
	"encoding/json"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// lockNode is the lock of an ensemble: an ephemeral znode, which goes with the control session of the pod that created
// it. If that session ends early, another pod of the run creates it again.
const lockNode = "/etcdbench-lock"

// lockContent is the content of the znode. It has no name, since everyone may read it.
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
	if err == nil && !found.exists {
		content, _ := json.Marshal(lockContent{RunUID: d.plan.RunUID, Since: time.Now().UTC().Truncate(time.Second)})
		_, err = ask(ctx, d, func(s *session) (string, error) {
			return s.Create(lockNode, content, zk.FlagEphemeral, everybody)
		})
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
	_, err = ask(ctx, d, func(s *session) (struct{}, error) { return struct{}{}, s.Delete(lockNode, -1) })
	if err == zk.ErrNoNode {
		err = nil
	}
	return settled(ctx, err, d.addresses())
}
