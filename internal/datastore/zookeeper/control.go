package zookeeper

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
)

// controlSession returns the session for claims, deletions and checks. It knows every
// address, so that znodes can be deleted while a server is down.
func (d *Driver) controlSession(ctx context.Context) (*session, error) {
	d.opening.Lock()
	defer d.opening.Unlock()
	d.mutex.Lock()
	s, closed, lost := d.control, d.closed, d.lost
	d.mutex.Unlock()
	switch {
	case closed:
		return nil, zk.ErrClosing
	case s != nil:
		return s, nil
	}
	// Pods begin with different servers. After a lost session, a pod begins with the next one.
	all := d.plan.Target.Endpoints
	first := (d.index + lost) % len(all)
	s, err := d.open(ctx, controlTimeout, controlFrame, slices.Concat(all[first:], all[:first])...)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.control = s
	return s, nil
}

// errNoAnswer: a server did not respond in time. Another one may.
var errNoAnswer = errors.New("the server does not answer")

// dropControl ends a control session whose server does not answer.
func (d *Driver) dropControl(s *session) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.control == s {
		d.control, d.lost = nil, d.lost+1
		go s.close()
	}
}

// answerTimeout bounds one request.
const answerTimeout = 5 * time.Second

// ask sends a request over the control session. It repeats the request if the error is temporary: reads can be repeated, and
// transactions that check the marker, or create it. The lock of the target has no marker, and no request of ask changes it.
func ask[T any](ctx context.Context, d *Driver, question func(*session) (T, error)) (answer T, err error) {
	err = remote.Repeat(ctx, passes, func(ctx context.Context) error {
		s, err := d.controlSession(ctx)
		if err != nil {
			return err
		}
		s.setPhase(ctx)
		answer, err = within(ctx, func() (T, error) { return question(s) })
		if err == errNoAnswer {
			d.dropControl(s)
		}
		return err
	})
	return answer, err
}

// within returns what a call of go-zookeeper returns within answerTimeout.
func within[T any](ctx context.Context, call func() (T, error)) (answer T, err error) {
	bounded, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err = awaited(bounded, call)
	if err == context.DeadlineExceeded && ctx.Err() == nil {
		err = errNoAnswer
	}
	return answer, err
}

// awaited returns what a call of go-zookeeper returns, or why ctx has ended. Then the call continues, and its response is ignored.
func awaited[T any](ctx context.Context, call func() (T, error)) (answer T, err error) {
	type answered struct {
		answer T
		err    error
	}
	done := make(chan answered, 1)
	go func() {
		a, err := call()
		done <- answered{a, err}
	}()
	select {
	case a := <-done:
		return a.answer, a.err
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// catchUp brings the server of the control session up to date: a follower may lag behind.
func (d *Driver) catchUp(ctx context.Context) error {
	_, err := ask(ctx, d, func(s *session) (string, error) { return s.Sync("/") })
	return err
}

// node describes a znode. The zero value is a missing one.
type node struct {
	exists   bool
	children int32
	data     string
	// version counts the changes of the data. changed is the transaction of the newest change.
	version int32
	changed int64
}

// stat returns whether a znode exists, and how many children it has.
func (d *Driver) stat(ctx context.Context, path string) (node, error) {
	return ask(ctx, d, func(s *session) (node, error) {
		exists, stat, err := s.Exists(path)
		if err != nil || !exists {
			return node{}, err
		}
		return node{exists: true, children: stat.NumChildren}, nil
	})
}

// read returns a znode with its data.
func (d *Driver) read(ctx context.Context, path string) (node, error) {
	return ask(ctx, d, func(s *session) (node, error) {
		data, stat, err := s.Get(path)
		switch {
		case err == zk.ErrNoNode:
			return node{}, nil
		case err != nil:
			return node{}, err
		}
		return node{exists: true, children: stat.NumChildren, data: string(data), version: stat.Version, changed: stat.Mzxid}, nil
	})
}

// list returns the names of a znode's children, and none if the znode is missing.
func (d *Driver) list(ctx context.Context, path string) ([]string, error) {
	return ask(ctx, d, func(s *session) ([]string, error) {
		children, _, err := s.Children(path)
		if err == zk.ErrNoNode {
			return nil, nil
		}
		return children, err
	})
}

// commit sends a transaction. If one of its operations fails, none is carried out: failed
// is then the index of that operation, and why its error. Otherwise failed is -1.
func (d *Driver) commit(ctx context.Context, ops ...any) (failed int, why, err error) {
	type attempt struct {
		failed int
		why    error
	}
	out, err := ask(ctx, d, func(s *session) (attempt, error) {
		each, err := s.Multi(ops...)
		if failed, why := firstFailed(each); why != nil {
			return attempt{failed, why}, nil
		}
		return attempt{failed: -1}, err
	})
	return out.failed, out.why, err
}
