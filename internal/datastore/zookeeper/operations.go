package zookeeper

import (
	"bytes"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// call sends a prepared request, and returns when it is answered. lost: another client had changed the key.
type call func() (lost bool, err error)

// operations has, for each operation that the driver knows, the function that prepares a call. The prepared call does not
// refer to the request's bytes, because it can outlive the request.
var operations = map[spec.Operation]func(*conn, *load.Request) call{
	spec.OperationPut:            put,
	spec.OperationRange:          read,
	spec.OperationDelete:         remove,
	spec.OperationTxn:            transaction,
	spec.OperationCompareAndSwap: swap,
}

// anyVersion is the version of a znode in a request that does not compare it.
const anyVersion = -1

// put writes the znode of a key. ZooKeeper has no request that writes a znode whether or not it exists.
func put(c *conn, req *load.Request) call {
	path, value := c.tree.path(req.Key), bytes.Clone(req.Value)
	if c.preloaded && !req.Preload {
		return func() (bool, error) {
			_, err := c.session.Set(path, value, anyVersion)
			return false, err
		}
	}
	repeats := req.Preload
	return func() (bool, error) {
		_, err := c.session.Create(path, value, 0, c.acl)
		if repeats && err == zk.ErrNodeExists {
			// An earlier attempt succeeded, and its response was lost.
			err = nil
		}
		return false, err
	}
}

// read reads the znode of a key.
func read(c *conn, req *load.Request) call {
	path, syncs := c.tree.path(req.Key), req.Consistency == spec.SyncRead
	return func() (bool, error) {
		synced := make(chan error, 1)
		if syncs {
			if err := c.session.sendSync(path, synced); err != nil {
				return false, err
			}
		} else {
			synced <- nil
		}
		_, _, err := c.session.Get(path)
		if failed := <-synced; failed != nil {
			err = failed
		}
		return false, err
	}
}

// sendSync sends a sync, and returns when the next request of this session will follow it. The response goes to answered.
// go-zookeeper's own call returns only with the response.
func (s *session) sendSync(path string, answered chan error) error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	select {
	case <-s.writesSync:
	default:
	}
	go func() {
		_, err := s.Sync(path)
		answered <- err
	}()
	select {
	case <-s.writesSync:
		return nil
	case err := <-answered:
		answered <- err
		return err
	}
}

func remove(c *conn, req *load.Request) call {
	path := c.tree.path(req.Key)
	return func() (bool, error) { return false, c.session.Delete(path, anyVersion) }
}

// transaction writes several znodes, as put writes one.
func transaction(c *conn, req *load.Request) call {
	ops := make([]any, len(req.Pairs))
	for i, pair := range req.Pairs {
		path, value := c.tree.path(pair.Key), bytes.Clone(pair.Value)
		if c.preloaded {
			ops[i] = &zk.SetDataRequest{Path: path, Data: value, Version: anyVersion}
		} else {
			ops[i] = &zk.CreateRequest{Path: path, Data: value, Acl: c.acl}
		}
	}
	return func() (bool, error) {
		each, err := c.session.Multi(ops...)
		if _, why := firstFailed(each); why != nil {
			err = why
		}
		return false, err
	}
}

// firstFailed returns the index of the operation because of which a transaction has failed, and its error. The index is -1 if
// none has failed.
func firstFailed(each []zk.MultiResponse) (failed int, why error) {
	for i, op := range each {
		if op.Error != nil {
			return i, op.Error
		}
	}
	return -1, nil
}

// swap reads the znode of a key, and writes it if its version is still the same.
func swap(c *conn, req *load.Request) call {
	path, value := c.tree.path(req.Key), bytes.Clone(req.Value)
	return func() (bool, error) {
		_, stat, err := c.session.Get(path)
		if err != nil {
			return false, err
		}
		_, err = c.session.Set(path, value, stat.Version)
		if err == zk.ErrBadVersion {
			return true, nil
		}
		return false, err
	}
}
