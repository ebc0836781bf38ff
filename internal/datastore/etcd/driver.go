package etcd

import (
	"context"
	"errors"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Driver is load.Driver over clientv3.
type Driver struct {
	plan     plan.Plan
	index    int
	requests load.RequestCounter
}

var _ load.Driver = (*Driver)(nil)

// New returns the driver of the pod with this index. It reads nothing and
// connects to nothing yet.
func New(p plan.Plan, index int) *Driver { return &Driver{plan: p, index: index} }

// Preflight implements load.Driver.
func (d *Driver) Preflight(ctx context.Context) (*results.Target, error) {
	return nil, errors.ErrUnsupported
}

// Connect implements load.Driver.
func (d *Driver) Connect(ctx context.Context, connection int) (load.Conn, error) {
	return nil, errors.ErrUnsupported
}

// Claim implements load.Driver.
func (d *Driver) Claim(ctx context.Context) error { return errors.ErrUnsupported }

// Release implements load.Driver.
func (d *Driver) Release(ctx context.Context) (results.Cleaning, error) {
	return results.CleaningNothingWritten, errors.ErrUnsupported
}

// Clean deletes the keys of a run whose pods are gone. It fails if the prefix
// belongs to another run, and does nothing if the run left nothing.
func (d *Driver) Clean(ctx context.Context) error { return errors.ErrUnsupported }

// Sample implements load.Driver.
func (d *Driver) Sample(ctx context.Context) map[string]int64 { return nil }

// Requests implements load.Driver.
func (d *Driver) Requests() map[results.RPC]map[results.Phase]uint64 { return d.requests.Counts() }

// Close implements load.Driver.
func (d *Driver) Close() error { return nil }
