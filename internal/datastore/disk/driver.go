package disk

import (
	"context"
	"errors"
	"sync"
	"syscall"
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
	load.Keyless
	plan     plan.Plan
	requests load.RequestCounter
	// closing ends all writers when it is closed. broken has the first error of a log.
	closing chan struct{}
	broken  chan error

	mutex sync.Mutex
	conns []*conn
	close sync.Once
}

var _ load.Breaker = (*Driver)(nil)

// New returns the driver of a pod. It opens nothing yet.
func New(p plan.Plan) *Driver {
	return &Driver{plan: p, closing: make(chan struct{}), broken: make(chan error, 1)}
}

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
		c := newConn(w, &d.requests, d.closing, d.lose)
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

// Broken implements load.Breaker.
func (d *Driver) Broken() <-chan error { return d.broken }

// lose says why the log of this pod cannot go on. Only the first reason counts.
func (d *Driver) lose(err error) {
	what := "failed: %w. etcd ends at such an error. Look into the log of the kernel (dmesg), and name a folder on another disk."
	if errors.Is(err, syscall.ENOSPC) {
		what = "is full: %w. etcd ends at such an error. Free space, or name a folder on another disk."
	}
	select {
	case d.broken <- load.Errorf(results.FailureTargetLost, "the disk of %s "+what, d.plan.Target.Dir, err):
	default:
	}
}

// Release implements load.Driver. The files have no names, and are gone when they are closed.
func (*Driver) Release(context.Context) (results.Cleaning, error) {
	return results.CleaningKeysDeleted, nil
}

// Requests implements load.Driver.
func (d *Driver) Requests() map[spec.RPC]map[results.Phase]uint64 { return d.requests.Counts() }

// Close implements load.Driver. A flush that hangs ends with the process.
func (d *Driver) Close() error {
	d.close.Do(func() { close(d.closing) })
	d.mutex.Lock()
	defer d.mutex.Unlock()
	limit := time.After(closeLimit)
	for _, c := range d.conns {
		select {
		case <-c.ended:
		case <-limit:
			return nil
		}
	}
	return nil
}
