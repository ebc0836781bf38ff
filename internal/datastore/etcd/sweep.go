package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

const (
	// sweepBlock is the most keys that one transaction deletes: a huge transaction stalls etcd.
	sweepBlock = 1000
	// sweepNames is the most keys that one transaction deletes by name: an equal part of a block, below usualOperations.
	sweepNames = sweepBlock / 8
	// sweepLookahead is how many numbers ahead the sweep looks for the next key. etcd visits every existing key in this
	// range, so the range is short where keys exist, and grows where none do.
	sweepLookahead = 8 * sweepBlock
)

// errNotAlone: the prefix no longer belongs to the run, or a pod may write.
var errNotAlone = errors.New("the prefix got another owner, or a pod of the run joined, while its keys were deleted")

// Clean deletes the keys, and revokes the leases, of a run whose pods are gone. It does nothing if nothing is left, and
// fails if keys or leases are left that the marker does not cover. It needs one member that answers.
func (d *Driver) Clean(ctx context.Context, signs map[string]int64) error {
	client, err := d.controlClient(ctx)
	if err == nil {
		err = d.clean(ctx, client, signs)
	}
	return settled(ctx, err, d.addresses())
}

// clean first gives the dead pods up: from then on, the store refuses their signs of life.
func (d *Driver) clean(ctx context.Context, client *clientv3.Client, signs map[string]int64) error {
	pods, end := podsOf(d.plan.Prefix)
	still := unchanged(pods, end, newest(signs))
	for {
		alone, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix(), d.noPodWrites()}, clientv3.OpGet(d.markerKey()))
		switch {
		case err != nil:
			return err
		case alone.Succeeded:
			return d.sweep(ctx, client, cmp.Or(releasedIn(alone.Responses[0].GetResponseRange().Kvs[0]), alone.Header.Revision))
		}
		dead, err := d.leave(ctx, client, []clientv3.Cmp{d.ownsPrefix(), still}, clientv3.OpDelete(pods, clientv3.WithRange(end)))
		switch {
		case err != nil:
			return err
		case dead.Succeeded:
			return d.sweep(ctx, client, dead.Header.Revision)
		}
		switch deleted, writers, err := d.claimState(ctx, client); {
		case err != nil || deleted:
			return err
		case writers > 0:
			return load.ErrStillWrites(d.podsPrefix())
		}
		// The pod has released since.
	}
}

// releasedIn returns the revision from which on no pod of a run without registered pods could write, by the run's marker; 0
// if it is not known, because the database was full.
func releasedIn(marker *mvccpb.KeyValue) int64 {
	if marker.ModRevision == marker.CreateRevision {
		return 0
	}
	return marker.ModRevision
}

// newest returns the newest of some revisions; 0 if there is none.
func newest(revisions map[string]int64) (newest int64) {
	for _, revision := range revisions {
		newest = max(newest, revision)
	}
	return newest
}

// sweep revokes the run's leases, deletes the load's keys block by block, and then deletes the marker. Every
// transaction checks that the marker is there and that no pod may write. released is the revision at which the last pod
// has given up its registration: what was written later is not the run's.
func (d *Driver) sweep(ctx context.Context, client *clientv3.Client, released int64) error {
	if err := d.revokeLeases(ctx, client); err != nil {
		return err
	}
	if err := d.deleteLoad(ctx, client, released); err != nil {
		return err
	}
	swept, err := d.deleteMarker(ctx, client, released)
	if err == nil && !swept {
		var left *clientv3.GetResponse
		if left, err = get(ctx, client, d.plan.Prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(2)); err == nil {
			err = d.errKeysOfOthers(left.Kvs)
		}
	}
	return err
}

// errKeysOfOthers is the error of a sweep that left keys that the run did not write, of which some are left.
func (d *Driver) errKeysOfOthers(left []*mvccpb.KeyValue) error {
	example := ""
	for _, kv := range left {
		if string(kv.Key) != d.markerKey() {
			example = fmt.Sprintf(", such as %q", kv.Key)
			break
		}
	}
	return load.Errorf(results.FailurePrefixNotEmpty, "found keys under %s that the run does not write, or that were written after its last pod had ended%s; they and the marker %s were left alone. If they are not needed, delete them by hand; kubectl etcdbench clean then removes the marker", d.plan.Prefix, example, d.markerKey())
}

func (d *Driver) deleteLoad(ctx context.Context, client *clientv3.Client, released int64) error {
	own := ownKeys{driver: d, client: client, keys: d.plan.KeyWriter(), names: newBatches(sweepNames), released: released}
	if d.plan.UsesRegistry() {
		return own.deleteObjects(ctx)
	}
	s := sweeper{ownKeys: own, count: d.plan.Keys().Count, atOnce: sweepBlock, lookahead: sweepLookahead}
	return s.walk(ctx)
}

// ownKeys deletes keys of the run, and no key that was written after the last pod of the run could write.
type ownKeys struct {
	driver *Driver
	client *clientv3.Client
	keys   workload.KeyWriter
	// names are the keys that one transaction deletes by name.
	names *batches
	// released is the revision at which the last pod gave up its registration.
	released int64
}

// delete deletes keys of the range [from, to) in one transaction. If the range has a key that was written later, it
// deletes nothing and returns false.
func (o ownKeys) delete(ctx context.Context, from, to string, deletions ...clientv3.Op) (done bool, err error) {
	return o.deleteIf(ctx, []clientv3.Cmp{unchanged(from, to, o.released)}, deletions...)
}

// deleteIf deletes in one transaction, if the prefix belongs to the run, no pod may write, and some conditions hold.
func (o ownKeys) deleteIf(ctx context.Context, conditions []clientv3.Cmp, deletions ...clientv3.Op) (done bool, err error) {
	out, err := commit(ctx, o.client, append(conditions, o.driver.ownsPrefix(), o.driver.noPodWrites()), deletions...)
	if err != nil || out.Succeeded {
		return err == nil, err
	}
	deleted, writers, err := o.driver.claimState(ctx, o.client)
	if err == nil && (deleted || writers > 0) {
		err = errNotAlone
	}
	return false, err
}

// deleteListed deletes the run's keys of the range [from, to) by their names, and compares the revision of each one. It is
// for a range that has keys of others, too.
func (o ownKeys) deleteListed(ctx context.Context, from, to string) error {
	for {
		page, err := get(ctx, o.client, from, clientv3.WithRange(to), clientv3.WithKeysOnly(), clientv3.WithLimit(sweepBlock))
		if err != nil || len(page.Kvs) == 0 {
			return err
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
		own := slices.DeleteFunc(page.Kvs, func(kv *mvccpb.KeyValue) bool { return !o.owns(kv) })
		err = o.names.each(int64(len(own)), func(from, to int64) error { return o.deleteUnchanged(ctx, own[from:to]) })
		if err != nil {
			return err
		}
	}
}

// deleteUnchanged deletes the keys that have not changed since they were listed. If one has, it tries both halves.
func (o ownKeys) deleteUnchanged(ctx context.Context, keys []*mvccpb.KeyValue) error {
	var conditions []clientv3.Cmp
	var deletions []clientv3.Op
	for _, kv := range keys {
		conditions = append(conditions, clientv3.Compare(clientv3.ModRevision(string(kv.Key)), "=", kv.ModRevision))
		deletions = append(deletions, clientv3.OpDelete(string(kv.Key)))
	}
	done, err := o.deleteIf(ctx, conditions, deletions...)
	if done || err != nil || len(keys) == 1 {
		return err
	}
	half := len(keys) / 2
	if err := o.deleteUnchanged(ctx, keys[:half]); err != nil {
		return err
	}
	return o.deleteUnchanged(ctx, keys[half:])
}

// owns reports whether the run can have written a key as it is.
func (o ownKeys) owns(kv *mvccpb.KeyValue) bool {
	isOwn := o.keys.IsNumbered(kv.Key)
	if o.driver.plan.UsesRegistry() {
		isOwn = workload.IsObject(o.driver.plan.Prefix, kv.Key)
	}
	return isOwn && kv.ModRevision <= o.released
}

// deleteMarker gives up the prefix if none of the load's keys is left. Locks were deleted with their leases; other keys
// beside them must not remain without the marker, and are deleted with it if they are no newer than released.
func (d *Driver) deleteMarker(ctx context.Context, client *clientv3.Client, released int64) (swept bool, err error) {
	locks := d.plan.LockPrefix()
	out, err := commit(ctx, client,
		[]clientv3.Cmp{d.ownsPrefix(), d.noPodWrites(), noKeyIn(d.loadRange()), unchanged(locks, clientv3.GetPrefixRangeEnd(locks), released)},
		clientv3.OpDelete(locks, clientv3.WithPrefix()), clientv3.OpDelete(d.markerKey()))
	if err != nil || out.Succeeded {
		return err == nil, err
	}
	deleted, writers, err := d.claimState(ctx, client)
	if writers > 0 {
		err = errNotAlone
	}
	return deleted, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
