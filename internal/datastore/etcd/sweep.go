package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
)

const (
	// sweepBlock keys at most are deleted by one transaction: a huge one
	// stalls etcd.
	sweepBlock = 1000
	// sweepSight is how many numbers ahead the next key is looked for. etcd
	// visits the key of each number that exists, so that it is kept short
	// where there are keys, and grows where there are none.
	sweepSight = 8 * sweepBlock
)

// errNotAlone: the prefix is no longer the run's, or a pod may write.
var errNotAlone = errors.New("the prefix changed hands while its keys were deleted")

// Clean deletes the keys, and revokes the leases, of a run whose pods are gone.
// It does nothing if the run left nothing, and fails if it left what its marker
// does not cover. One member that answers is enough.
func (d *Driver) Clean(ctx context.Context) error {
	client, err := d.controlClient(ctx)
	if err == nil {
		err = d.clean(ctx, client)
	}
	return settled(ctx, err, d.addresses())
}

func (d *Driver) clean(ctx context.Context, client *clientv3.Client) error {
	dead := clientv3.OpDelete(d.podsPrefix(), clientv3.WithPrefix())
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()}, dead)
	switch {
	case err != nil:
		return err
	case !out.Succeeded:
		return d.nothingLeft(ctx, client)
	}
	return d.sweep(ctx, client)
}

// sweepAttempts: a put that was given up can reach etcd behind the sweep.
const sweepAttempts = 3

// sweep revokes the run's leases, deletes the load's keys, block after block,
// and last the marker that permits it. Every transaction is guarded by the
// marker, and by no pod being left that may write.
func (d *Driver) sweep(ctx context.Context, client *clientv3.Client) error {
	if err := d.revokeLeases(ctx, client); err != nil {
		return err
	}
	for range sweepAttempts {
		if err := d.deleteLoad(ctx, client); err != nil {
			return err
		}
		swept, err := d.deleteMarker(ctx, client)
		if swept || err != nil {
			return err
		}
	}
	return fmt.Errorf("there are keys under %s that the run did not write; they were left alone, and so was the marker %s", d.plan.Prefix, d.markerKey())
}

func (d *Driver) deleteLoad(ctx context.Context, client *clientv3.Client) error {
	if d.plan.Workload.UsesRegistry() {
		return d.deleteObjects(ctx, client)
	}
	s := sweeper{driver: d, client: client, keys: workload.KeysOf(d.plan), sight: sweepSight}
	return s.walk(ctx)
}

// deleteMarker gives the prefix up if none of the load's keys is left. Locks went
// with their leases; whatever else lies beside them must not outlast the marker.
func (d *Driver) deleteMarker(ctx context.Context, client *clientv3.Client) (swept bool, err error) {
	out, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix(), d.nobodyWrites(), noKeyIn(d.loadRange())},
		clientv3.OpDelete(d.plan.LockPrefix(), clientv3.WithPrefix()), clientv3.OpDelete(d.markerKey()))
	if err != nil || out.Succeeded {
		return err == nil, err
	}
	deleted, writers, err := d.lookAround(ctx, client)
	if writers > 0 {
		err = errNotAlone
	}
	return deleted, err
}

// sweeper walks over the key space by number. It does not list keys: etcd
// would read all values to do so.
type sweeper struct {
	driver *Driver
	client *clientv3.Client
	keys   workload.Keys
	// next is the lowest number whose key may exist.
	next  int64
	sight int64
}

func (s *sweeper) walk(ctx context.Context) error {
	for s.next < s.driver.plan.Workload.KeyCount {
		began := time.Now()
		if err := s.block(ctx); err != nil {
			return err
		}
		// Half of the time belongs to whoever else uses the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

// block deletes the keys of the next numbers, and looks for the first key
// after them in the same transaction.
func (s *sweeper) block(ctx context.Context) error {
	end := min(s.next+sweepBlock, s.driver.plan.Workload.KeyCount)
	horizon := min(end+s.sight, s.driver.plan.Workload.KeyCount)
	out, err := commit(ctx, s.client, []clientv3.Cmp{s.driver.ownsPrefix(), s.driver.nobodyWrites()},
		clientv3.OpDelete(s.key(s.next), clientv3.WithRange(s.after(end-1))),
		clientv3.OpGet(s.after(end-1), clientv3.WithRange(s.after(horizon-1)), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
	if err != nil {
		return err
	}
	if !out.Succeeded {
		return errNotAlone
	}
	ahead := out.Responses[1].GetResponseRange().Kvs
	if len(ahead) == 0 {
		s.next, s.sight = horizon, 2*s.sight
		return nil
	}
	s.next, s.sight = s.numberOf(ahead[0].Key, end), sweepSight
	return nil
}

func (s *sweeper) key(number int64) string { return string(s.keys.AppendKey(nil, number)) }

// after is the key that follows the key of a number.
func (s *sweeper) after(number int64) string { return s.key(number) + "\x00" }

// numberOf is the inverse of key. A key that is not of the load cannot lead
// back, before from.
func (s *sweeper) numberOf(key []byte, from int64) int64 {
	digits := string(key[len(s.driver.plan.Prefix):])
	number, err := strconv.ParseInt(digits[:min(len(digits), s.driver.plan.Workload.KeySize)], 10, 64)
	if err != nil || number < from {
		return from
	}
	return number
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
