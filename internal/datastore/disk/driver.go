package disk

import (
	"context"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// closeLimit is how long Close waits for a flush that hangs.
const closeLimit = 5 * time.Second

// Driver is load.Driver for a folder on a disk. A folder has one pod, no keys and no lock.
type Driver struct {
	plan     plan.Plan
	requests load.RequestCounter

	mutex sync.Mutex
	conns []*conn
}

// New returns the driver of a pod. It opens nothing yet.
func New(p plan.Plan) *Driver { return &Driver{plan: p} }

// Preflight implements load.Driver.
func (d *Driver) Preflight(context.Context) (*results.Target, members.View, error) {
	found, err := inspect(d.plan.Target.Dir, d.plan.Guard.AcknowledgeControlPlane)
	if err != nil {
		return nil, members.View{}, err
	}
	return &results.Target{Disk: &found}, members.View{At: time.Now()}, nil
}

// Connect implements load.Driver: it makes the log.
func (d *Driver) Connect(ctx context.Context, _ int) (load.Conn, error) {
	made := make(chan *conn, 1)
	failed := make(chan error, 1)
	go func() {
		w, err := newWriter(d.plan.Target.Dir)
		if err != nil {
			failed <- err
			return
		}
		c := newConn(w, &d.requests)
		d.mutex.Lock()
		d.conns = append(d.conns, c)
		d.mutex.Unlock()
		made <- c
	}()
	select {
	case c := <-made:
		return c, nil
	case err := <-failed:
		return nil, load.Errorf(results.FailureTargetUnhealthy, "no log can be written into %s: %w. Name a folder that this user may write, on a disk with free space.", d.plan.Target.Dir, err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Claim implements load.Driver. No other run sees the files.
func (*Driver) Claim(context.Context) error { return nil }

// Sign implements load.Driver.
func (*Driver) Sign(context.Context) error { return nil }

// Signs implements load.Driver.
func (*Driver) Signs(context.Context) (map[string]int64, error) { return nil, nil }

// Release implements load.Driver. The files have no names, and are gone when they are closed.
func (*Driver) Release(context.Context) (results.Cleaning, error) {
	return results.CleaningKeysDeleted, nil
}

// Clean implements load.Driver.
func (*Driver) Clean(context.Context, map[string]int64) error { return nil }

// Requests implements load.Driver.
func (d *Driver) Requests() map[spec.RPC]map[results.Phase]uint64 { return d.requests.Counts() }

// Close implements load.Driver. A flush that hangs ends with the process.
func (d *Driver) Close() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	limit := time.After(closeLimit)
	for _, c := range d.conns {
		close(c.entries)
		select {
		case <-c.ended:
		case <-limit:
			return nil
		}
	}
	d.conns = nil
	return nil
}
