package zookeeper

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

const (
	// leaveTimeout bounds the deletion after a failed request.
	leaveTimeout = 2 * time.Second
	// sequenceDigits is the length of the number that a server appends to the name of a sequential znode.
	sequenceDigits = 10
)

// contender is one client's connection that competes for a lock or a leadership by ZooKeeper's recipe: it creates an ephemeral
// sequential znode, and watches the one before. A client has at most one znode at a time: the znodes of a session are deleted in
// one transaction, which must stay small.
type contender struct {
	*conn
	// name is the znode of the lock. mark begins the names of the client's znodes below it.
	name, mark string
	// own is the znode with which the client waits, or holds the lock. left: there may be one.
	own  string
	left bool
}

// Client implements load.SharedConn.
func (c *conn) Client(_ context.Context, client int) (load.Conn, error) {
	if c.tree.names == 0 {
		return c, nil
	}
	return &contender{conn: c, name: c.tree.name(client % c.tree.names), mark: fmt.Sprintf("%06d-", client)}, nil
}

// Do implements load.Conn.
func (k *contender) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	k.session.setPhase(ctx)
	bounded, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	*resp = load.Response{Sent: load.Now()}
	handOffs, err := &k.session.driver.handOffs, error(nil)
	switch {
	case req.Operation.Inner() != "":
		before := ""
		before, err = k.win(bounded)
		resp.Received = load.Now()
		if err == nil {
			resp.InnerSince = handOffs.Freed(before, resp.Received)
			handOffs.Forget(k.mark)
		}
	case req.Operation.IsPart():
		handOffs.Begin(k.mark)
		err = k.yield(bounded)
		resp.Received = load.Now()
		if err == nil {
			handOffs.End(k.mark, resp.Received)
		}
	default:
		resp.Unknown(req.Operation)
		return
	}
	if err == nil {
		return
	}
	k.fail(err, req, resp)
	handOffs.Forget(k.mark)
	bounded, cancel = context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	_ = k.leave(bounded)
	resp.Cleared = load.Now()
}

// errSessionLost: another client may have had the lock meanwhile.
var errSessionLost = fmt.Errorf("the client's znode was deleted with its session: %w", zk.ErrSessionExpired)

// win waits until the client's znode is the first one, and returns the mark of the client that was last in front of it.
func (k *contender) win(ctx context.Context) (before string, err error) {
	if k.left {
		if err := k.leave(ctx); err != nil {
			return "", err
		}
	}
	k.left = true
	k.own, err = awaited(ctx, func() (string, error) {
		return k.session.Create(k.name+"/"+k.mark, nil, zk.FlagEphemeral|zk.FlagSequence, k.acl)
	})
	for err == nil {
		var queue []string
		if queue, err = k.queue(ctx); err != nil {
			break
		}
		at := slices.Index(queue, k.own[len(k.name)+1:])
		switch {
		case at < 0:
			return "", errSessionLost
		case at == 0:
			return before, nil
		}
		// The name of a foreign znode may be shorter.
		before = queue[at-1][:min(len(k.mark), len(queue[at-1]))]
		err = k.awaitEnd(ctx, k.name+"/"+queue[at-1])
	}
	return "", err
}

// queue returns the names of the znodes of all clients that wait for the lock or hold it, the first one first.
func (k *contender) queue(ctx context.Context) ([]string, error) {
	all, err := awaited(ctx, func() ([]string, error) {
		all, _, err := k.session.Children(k.name)
		return all, err
	})
	slices.SortFunc(all, func(a, b string) int {
		return strings.Compare(a[max(len(a)-sequenceDigits, 0):], b[max(len(b)-sequenceDigits, 0):])
	})
	return all, err
}

// awaitEnd waits until a znode is deleted.
func (k *contender) awaitEnd(ctx context.Context, path string) error {
	changed, err := awaited(ctx, func() (<-chan zk.Event, error) {
		_, _, changed, err := k.session.GetW(path)
		return changed, err
	})
	if err == zk.ErrNoNode {
		return nil
	}
	if err == nil {
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return err
}

// yield deletes the client's znode.
func (k *contender) yield(ctx context.Context) error {
	_, err := awaited(ctx, func() (none struct{}, err error) { return none, k.session.Delete(k.own, anyVersion) })
	switch err {
	case nil:
		k.left = false
	case zk.ErrNoNode:
		err = errSessionLost
	}
	return err
}

// leave deletes the client's znodes, so that other clients need not wait for them. It also finds the znode of a create that
// timed out, or whose connection was lost: the leader carries out the sync after all that the session had sent before.
func (k *contender) leave(ctx context.Context) error {
	_, err := awaited(ctx, func() (string, error) { return k.session.Sync(k.name) })
	var queue []string
	if err == nil {
		queue, err = k.queue(ctx)
	}
	for _, name := range queue {
		if err == nil && strings.HasPrefix(name, k.mark) {
			k.own = k.name + "/" + name
			if err = k.yield(ctx); err == errSessionLost {
				err = nil
			}
		}
	}
	k.left = err != nil
	return err
}

// endContest ends the sessions of contenders. Their znodes go with them, which are in the way of the deletion.
func (d *Driver) endContest() {
	if d.tree.names == 0 {
		return
	}
	d.mutex.Lock()
	sessions := slices.Clone(d.load)
	d.mutex.Unlock()
	for _, s := range sessions {
		s.setPhase(context.Background())
		s.close()
	}
}
