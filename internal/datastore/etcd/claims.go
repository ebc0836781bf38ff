package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Under the run's prefix are:
//  - the marker with the run's UID, which owns the prefix;
//  - one key for each pod that may still write, with its newest sign of life;
//  - locks and the keys of storms, which belong to leases of the run and are deleted with them;
//  - the load's keys, which begin with a digit, or with registry/ for objects.

// claims is ownership.Store for etcd: each step is a transaction. A pod that leaves, or who gives the pods up, writes the
// marker again: once no pod is left, the marker's revision is that from which on no pod of the run could write.
type claims struct {
	driver *Driver
	run    *ownership.Run
	// walk walks over the run's keys.
	walk func(*claims) ownership.Walker
	// rest are the ranges that have no key when the prefix is given up. withMarker is a prefix that is deleted then.
	rest       []keyRange
	withMarker string
	// leases are the IDs of the run's leases.
	leases leaseIDs
}

// keyRange is a range of keys, without to.
type keyRange struct{ from, to string }

// Marker implements ownership.Store.
func (c *claims) Marker() string { return c.run.Marker() }

func (c *claims) client(ctx context.Context) (*clientv3.Client, error) {
	return c.driver.controlClient(ctx)
}

// txn sends a transaction if all guards hold.
func (c *claims) txn(ctx context.Context, guards []clientv3.Cmp, then ...clientv3.Op) (*clientv3.TxnResponse, error) {
	client, err := c.client(ctx)
	if err != nil {
		return nil, err
	}
	return commit(ctx, client, guards, then...)
}

func (c *claims) owns() clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(c.run.Marker()), "=", c.run.UID)
}

// noPodWrites holds while no pod may write.
func (c *claims) noPodWrites() clientv3.Cmp { return noKeyIn(ownership.PodsOf(c.run.Prefix)) }

// mayWrite holds while the run owns its prefix and this pod has not been given up.
func (c *claims) mayWrite() []clientv3.Cmp {
	return []clientv3.Cmp{c.owns(), clientv3.Compare(clientv3.CreateRevision(c.run.PodKey()), ">", 0)}
}

// noKey holds if the key does not exist.
func noKey(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// noKeyIn holds if a range has no key: etcd compares each key of the range, and an existing key has a creation
// revision.
func noKeyIn(from, to string) clientv3.Cmp {
	return noKey(from).WithRange(to)
}

// unchanged holds if no key of a range is newer than a revision.
func unchanged(from, to string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(from).WithRange(to), "<", revision+1)
}

// Owner implements ownership.Store. It ignores a marker that the user may not read.
func (c *claims) Owner(ctx context.Context, prefix string) (ownership.Owner, error) {
	client, err := c.client(ctx)
	if err != nil {
		return ownership.Owner{}, err
	}
	marker, err := get(ctx, client, ownership.MarkerOf(prefix))
	switch {
	case codeOf(err) == codes.PermissionDenied:
		return ownership.Owner{}, nil
	case err != nil:
		return ownership.Owner{}, err
	case len(marker.Kvs) == 0:
		return ownership.Owner{Absent: true}, nil
	}
	uid, _ := ownership.OwnerIn(marker.Kvs[0].Value)
	return ownership.Owner{Owned: true, UID: uid}, nil
}

func (c *claims) register() clientv3.Op {
	return clientv3.OpPut(c.run.PodKey(), string(c.run.LifeSign()))
}

// Claim implements ownership.Store.
func (c *claims) Claim(ctx context.Context, absent []string) (won bool, err error) {
	guards := []clientv3.Cmp{noKeyIn(c.run.Prefix, clientv3.GetPrefixRangeEnd(c.run.Prefix))}
	for _, prefix := range absent {
		guards = append(guards, noKey(ownership.MarkerOf(prefix)))
	}
	out, err := c.txn(ctx, guards, clientv3.OpPut(c.run.Marker(), c.run.UID), c.register())
	return err == nil && out.Succeeded, err
}

// Join implements ownership.Store.
func (c *claims) Join(ctx context.Context) (joined bool, err error) {
	out, err := c.txn(ctx, []clientv3.Cmp{c.owns()}, c.register())
	return err == nil && out.Succeeded, err
}

// Sign implements ownership.Store. It is tried once: load.Session repeats it.
func (c *claims) Sign(ctx context.Context) (done bool, err error) {
	client, err := c.client(ctx)
	if err != nil {
		return false, err
	}
	out, err := client.Txn(ctx).If(c.mayWrite()...).Then(c.register()).Commit()
	return err == nil && out.Succeeded, c.driver.signError(err)
}

// signError marks the error of a target that answers and refuses. An overloaded target, and a kine without its database, do
// not refuse for good.
func (d *Driver) signError(err error) error {
	code := codeOf(err)
	switch {
	case err == nil, passes(err), code == codes.DeadlineExceeded, code == codes.Canceled,
		errors.Is(rpctypes.Error(err), rpctypes.ErrTooManyRequests), d.hidesOutages && code == codes.Unknown:
		return err
	}
	return fmt.Errorf("%w: %w", load.ErrRefused, err)
}

// Signs implements ownership.Store.
func (c *claims) Signs(ctx context.Context) (map[string]int64, error) {
	client, err := c.client(ctx)
	if err != nil {
		return nil, err
	}
	from, to := ownership.PodsOf(c.run.Prefix)
	found, err := get(ctx, client, from, clientv3.WithRange(to), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	signs := map[string]int64{}
	for _, kv := range found.Kvs {
		signs[string(kv.Key)] = kv.ModRevision
	}
	return signs, nil
}

// leave ends registrations, and writes the marker again. A full etcd refuses this put, and permits deletions; then the guards
// are those of ifFull.
func (c *claims) leave(ctx context.Context, guards, ifFull []clientv3.Cmp, then ...clientv3.Op) (*clientv3.TxnResponse, error) {
	out, err := c.txn(ctx, guards, append(then, clientv3.OpPut(c.run.Marker(), c.run.UID))...)
	if isFull(err) {
		out, err = c.txn(ctx, ifFull, then...)
	}
	return out, err
}

// countPods counts the registered pods.
func (c *claims) countPods() clientv3.Op {
	from, to := ownership.PodsOf(c.run.Prefix)
	return clientv3.OpGet(from, clientv3.WithRange(to), clientv3.WithCountOnly())
}

// Leave implements ownership.Store. The response shows whether this pod was the last one. A pod that was given up does not
// write the marker: keys of others, which came since, must not become older than it.
func (c *claims) Leave(ctx context.Context) (left ownership.Release, err error) {
	c.driver.endSessions(ctx)
	// In a full etcd, a repetition finds no key of this pod, and a marker that is older than its keys.
	out, err := c.leave(ctx, c.mayWrite(), []clientv3.Cmp{c.owns()}, clientv3.OpDelete(c.run.PodKey()), c.countPods())
	switch {
	case err != nil:
		return left, err
	case !out.Succeeded:
		return c.alone(ctx)
	}
	return ownership.Release{Owned: true, Alone: out.Responses[1].GetResponseRange().Count == 0, Revision: out.Header.Revision}, nil
}

// alone returns what is known without a registration of this pod.
func (c *claims) alone(ctx context.Context) (left ownership.Release, err error) {
	out, err := c.txn(ctx, []clientv3.Cmp{c.owns()}, clientv3.OpGet(c.run.Marker()), c.countPods())
	if err != nil || !out.Succeeded {
		return left, err
	}
	marker := out.Responses[0].GetResponseRange().Kvs[0]
	return ownership.Release{Owned: true, Alone: out.Responses[1].GetResponseRange().Count == 0, Revision: cmp.Or(releasedIn(marker), out.Header.Revision)}, nil
}

// GiveUp implements ownership.Store.
func (c *claims) GiveUp(ctx context.Context, signs map[string]int64) (left ownership.Release, err error) {
	left, err = c.alone(ctx)
	if err != nil || !left.Owned || left.Alone {
		return left, err
	}
	newest := int64(0)
	for _, revision := range signs {
		newest = max(newest, revision)
	}
	from, to := ownership.PodsOf(c.run.Prefix)
	guards := []clientv3.Cmp{c.owns(), unchanged(from, to, newest)}
	dead, err := c.leave(ctx, guards, guards, clientv3.OpDelete(from, clientv3.WithRange(to)))
	if err == nil && dead.Succeeded {
		left = ownership.Release{Owned: true, Alone: true, Revision: dead.Header.Revision}
	}
	return left, err
}

// releasedIn returns the revision from which on no pod of a run without registered pods could write, by the run's marker; 0
// if it is not known, because the database was full.
func releasedIn(marker *mvccpb.KeyValue) int64 {
	if marker.ModRevision == marker.CreateRevision {
		return 0
	}
	return marker.ModRevision
}

// State implements ownership.Store.
func (c *claims) State(ctx context.Context) (owned bool, writers int64, err error) {
	out, err := c.txn(ctx, []clientv3.Cmp{c.owns()}, c.countPods())
	if err != nil || !out.Succeeded {
		return false, 0, err
	}
	return true, out.Responses[0].GetResponseRange().Count, nil
}

// Remains implements ownership.Store.
//
// A run claims only an empty prefix. So keys older than another run's marker are not that run's, and without a marker
// all keys are left over. Every pod that has claimed has a key that is deleted only under the marker: if the marker
// disappeared during the run, the pod's key shows it.
func (c *claims) Remains(ctx context.Context) (what string, err error) {
	pods, end := ownership.PodsOf(c.run.Prefix)
	reads := []clientv3.Op{clientv3.OpGet(c.run.Marker()), clientv3.OpGet(pods, clientv3.WithRange(end), clientv3.WithKeysOnly(), clientv3.WithLimit(pageKeys))}
	for _, r := range c.rest {
		reads = append(reads, clientv3.OpGet(r.from, clientv3.WithRange(r.to), clientv3.WithKeysOnly(), clientv3.WithLimit(1)))
	}
	out, err := c.txn(ctx, nil, reads...)
	if err != nil {
		return "", err
	}
	marker := out.Responses[0].GetResponseRange().Kvs
	for _, response := range out.Responses[1:] {
		for _, kv := range response.GetResponseRange().Kvs {
			if len(marker) == 0 || kv.CreateRevision < marker[0].ModRevision {
				return fmt.Sprintf("the key %q", kv.Key), nil
			}
		}
	}
	leases, err := c.driver.listLeases(ctx, c.leases)
	if err != nil || len(leases) == 0 {
		return "", err
	}
	return fmt.Sprintf("the lease %016x", leases[0]), nil
}

// Foreign implements ownership.Store.
func (c *claims) Foreign(ctx context.Context) (string, error) {
	client, err := c.client(ctx)
	if err != nil {
		return "", err
	}
	found, err := get(ctx, client, c.run.Prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(2))
	if err != nil {
		return "", err
	}
	for _, kv := range found.Kvs {
		if string(kv.Key) != c.run.Marker() {
			return text.Grouped(found.Count) + fmt.Sprintf(", such as %q", kv.Key), nil
		}
	}
	return "which were just deleted", nil
}

// Abandon implements ownership.Store. Locks were deleted with their leases; other keys beside them must not remain without
// the marker, and are deleted with it if they are no newer than the release.
func (c *claims) Abandon(ctx context.Context, released int64) (done bool, err error) {
	guards := []clientv3.Cmp{c.owns(), c.noPodWrites()}
	for _, r := range c.rest {
		guards = append(guards, noKeyIn(r.from, r.to))
	}
	deletions := []clientv3.Op{clientv3.OpDelete(c.run.Marker())}
	if c.withMarker != "" {
		guards = append(guards, unchanged(c.withMarker, clientv3.GetPrefixRangeEnd(c.withMarker), released))
		deletions = append(deletions, clientv3.OpDelete(c.withMarker, clientv3.WithPrefix()))
	}
	out, err := c.txn(ctx, guards, deletions...)
	return err == nil && out.Succeeded, err
}

// IsTooLarge implements ownership.Store: the server refused a request because of its size or of its number of operations.
func (c *claims) IsTooLarge(err error) bool { return isTooLarge(err) }

func isTooLarge(err error) bool {
	return errors.Is(err, rpctypes.ErrTooManyOps) || errors.Is(err, rpctypes.ErrRequestTooLarge) ||
		// gRPC refuses it before etcd does if it is much too long.
		codeOf(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max")
}

// Settle implements ownership.Store.
func (c *claims) Settle(ctx context.Context, err error) error {
	return settled(ctx, err, c.driver.addresses())
}
