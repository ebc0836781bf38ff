package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Leftovers finds and removes what runs left in an etcd that could not delete their keys.
type Leftovers struct {
	driver *Driver
	// kine: the target is kine. asked: the target was asked whether it is.
	kine, asked bool
}

// NewLeftovers returns the leftovers of a target. It connects to nothing yet.
func NewLeftovers(t plan.Target) *Leftovers {
	p := plan.Plan{Target: t}
	p.Target.Members = spec.MembersAll
	p.Load.Transport = spec.TransportClient
	return &Leftovers{driver: New(p, 0)}
}

// Close closes the connections.
func (l *Leftovers) Close() error { return l.driver.Close() }

// client returns the client of the target, and learns whether that is kine.
func (l *Leftovers) client(ctx context.Context) (*clientv3.Client, error) {
	client, err := l.driver.controlClient(ctx)
	if err != nil {
		return nil, err
	}
	if l.asked {
		return client, nil
	}
	status, err := statusOf(ctx, client)
	if isRefused(err) {
		// kine refuses nothing.
		l.asked = true
		return client, nil
	}
	l.kine, l.asked = err == nil && status.Header.GetMemberId() == 0, err == nil
	return client, err
}

// Leftover is what lies under one prefix.
type Leftover struct {
	Prefix string
	// Owner is the UID of the run that owns the prefix; empty without a marker.
	Owner string
	// Keys counts all keys under the prefix, the marker included.
	Keys int64
	// Began and Seen are the times of the first and of the newest sign of life of its pods, by their clocks; zero if
	// unknown.
	Began, Seen time.Time
	// Quiet is how long the keys of its pods must not change until the pods send nothing any more.
	Quiet time.Duration
	// marker is the revision of the marker, pods those of the pods' keys.
	marker int64
	pods   map[string]int64
	// released is the revision from which on no pod could write; 0 if it is not known.
	released int64
}

// IsSame reports whether nothing has changed between two looks at a prefix.
func (l Leftover) IsSame(other Leftover) bool {
	return l.Prefix == other.Prefix && l.Keys == other.Keys && l.hasSameOwner(other)
}

// hasSameOwner reports whether the marker and the keys of pods have not changed.
func (l Leftover) hasSameOwner(other Leftover) bool {
	if l.Owner != other.Owner || l.marker != other.marker || len(l.pods) != len(other.pods) {
		return false
	}
	for key, revision := range l.pods {
		if other.pods[key] != revision {
			return false
		}
	}
	return true
}

// leftoverPage is how many keys one request lists or deletes.
const leftoverPage = sweepBlock

// List returns what lies under root, which ends with a slash: a leftover for each prefix with a marker, and for the rest
// one for each name after root. The lock of the target is none: it expires by itself.
func (l *Leftovers) List(ctx context.Context, root string) (all []Leftover, err error) {
	client, err := l.client(ctx)
	if err != nil {
		return nil, settled(ctx, err, l.driver.addresses())
	}
	for from := root; ; {
		found, err := get(ctx, client, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(root)), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
		if err != nil || len(found.Kvs) == 0 {
			return all, settled(ctx, err, l.driver.addresses())
		}
		if string(found.Kvs[0].Key) == lockKey {
			from = lockKey + "\x00"
			continue
		}
		prefixes, next, err := l.prefixes(ctx, client, root, string(found.Kvs[0].Key))
		if err != nil {
			return nil, settled(ctx, err, l.driver.addresses())
		}
		for _, prefix := range prefixes {
			if slices.ContainsFunc(all, func(l Leftover) bool { return l.Prefix == prefix }) {
				continue
			}
			one, err := l.look(ctx, client, prefix)
			if err != nil {
				return nil, settled(ctx, err, l.driver.addresses())
			}
			all = append(all, one)
		}
		from = next
	}
}

// prefixes returns the prefixes around a key that List reports, and where it continues.
func (l *Leftovers) prefixes(ctx context.Context, client *clientv3.Client, root, key string) (prefixes []string, next string, err error) {
	for _, outer := range outerPrefixes(key + "/") {
		if len(outer) <= len(root) {
			continue
		}
		marker, err := get(ctx, client, markerOf(outer), clientv3.WithCountOnly())
		if err != nil {
			return nil, "", err
		}
		if marker.Count > 0 {
			return []string{outer}, clientv3.GetPrefixRangeEnd(outer), nil
		}
	}
	name, _, isFolder := strings.Cut(strings.TrimPrefix(key, root), "/")
	group := root + name
	if !isFolder {
		return []string{group}, group + "\x00", nil
	}
	group += "/"
	within, err := get(ctx, client, group, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(leftoverPage))
	if err != nil {
		return nil, "", err
	}
	prefixes = []string{group}
	for _, kv := range within.Kvs {
		if nested, found := strings.CutSuffix(string(kv.Key), markerOf("")); found {
			prefixes = append(prefixes, nested)
		}
	}
	return prefixes, clientv3.GetPrefixRangeEnd(group), nil
}

// Look returns what lies under a prefix now.
func (l *Leftovers) Look(ctx context.Context, prefix string) (Leftover, error) {
	client, err := l.client(ctx)
	if err != nil {
		return Leftover{}, settled(ctx, err, l.driver.addresses())
	}
	found, err := l.look(ctx, client, prefix)
	return found, settled(ctx, err, l.driver.addresses())
}

func (l *Leftovers) look(ctx context.Context, client *clientv3.Client, prefix string) (Leftover, error) {
	out := Leftover{Prefix: prefix, pods: map[string]int64{}}
	seen, err := l.read(ctx, client, clientv3.OpGet(markerOf(prefix)), clientv3.OpGet(prefix+podsFolder, clientv3.WithPrefix()),
		clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithCountOnly()))
	if err != nil {
		return out, err
	}
	pods := slices.DeleteFunc(seen[1].Kvs, func(kv *mvccpb.KeyValue) bool { return !isPod(prefix, string(kv.Key)) })
	for _, kv := range seen[0].Kvs {
		out.Owner, out.marker = string(kv.Value), kv.ModRevision
		// The marker of kine changes for other reasons, too, and says when it does for this one.
		if isDeleting := strings.HasSuffix(out.Owner, string(markerDeleting)); len(pods) == 0 && isDeleting == l.kine {
			out.released = releasedIn(kv)
		}
	}
	out.Quiet = plan.StillFor(0)
	for _, kv := range pods {
		out.pods[string(kv.Key)] = kv.ModRevision
		var sign lifeSign
		if json.Unmarshal(kv.Value, &sign) != nil || sign.Began.IsZero() {
			continue
		}
		out.Quiet = max(out.Quiet, plan.StillFor(time.Duration(max(sign.RequestTimeoutSeconds, 0))*time.Second))
		if out.Began.IsZero() || sign.Began.Before(out.Began) {
			out.Began = sign.Began
		}
		if sign.Seen.After(out.Seen) {
			out.Seen = sign.Seen
		}
	}
	out.Keys = seen[2].Count
	return out, nil
}

// read reads in one transaction, or from kine in one request each.
func (l *Leftovers) read(ctx context.Context, client *clientv3.Client, reads ...clientv3.Op) (found []*etcdserverpb.RangeResponse, err error) {
	if !l.kine {
		seen, err := commit(ctx, client, nil, reads...)
		if err != nil {
			return nil, err
		}
		for _, r := range seen.Responses {
			found = append(found, r.GetResponseRange())
		}
		return found, nil
	}
	for _, op := range reads {
		err := repeat(ctx, func(ctx context.Context) error {
			seen, err := client.Do(ctx, op)
			if err == nil {
				found = append(found, (*etcdserverpb.RangeResponse)(seen.Get()))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Removal is what Remove has deleted.
type Removal struct {
	Keys, Leases int64
	// Foreign is how many keys are left, because no run writes such keys.
	Foreign int64
}

// ErrChanged is returned if a prefix has changed since it was looked at: it may be in use.
var ErrChanged = errors.New("it changed while its keys were deleted, so it may be in use; the remaining keys were left alone")

// Remove deletes what a run can have written under a prefix that it owns, and the leases of the run, which begin with the
// ID firstLease. Each deletion fails if the marker or the keys of the pods differ from those of old. The marker stays
// while keys of others are left.
func (l *Leftovers) Remove(ctx context.Context, old Leftover, firstLease int64) (done Removal, err error) {
	client, err := l.client(ctx)
	if err == nil && l.kine {
		done, err = l.removeFromKine(ctx, client, old)
	} else if err == nil {
		pods, end := podsOf(old.Prefix)
		r := remover{client: client, old: old, guards: []clientv3.Cmp{
			clientv3.Compare(clientv3.Value(markerOf(old.Prefix)), "=", old.Owner),
			clientv3.Compare(clientv3.ModRevision(markerOf(old.Prefix)), "=", old.marker),
			unchanged(pods, end, newest(old.pods)),
		}}
		err = r.remove(ctx, firstLease)
		done = r.done
	}
	if errors.Is(err, ErrChanged) {
		return done, ErrChanged
	}
	return done, settled(ctx, err, l.driver.addresses())
}

// unchanged holds if no key of a range is newer than a revision.
func unchanged(from, to string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(from).WithRange(to), "<", revision+1)
}

// remover removes one leftover.
type remover struct {
	client *clientv3.Client
	old    Leftover
	guards []clientv3.Cmp
	done   Removal
}

func (r *remover) remove(ctx context.Context, firstLease int64) error {
	if err := r.revoke(ctx, firstLease); err != nil {
		return err
	}
	if err := r.deleteAll(ctx); err != nil || r.done.Foreign > 0 {
		return err
	}
	pods, end := podsOf(r.old.Prefix)
	return r.delete(ctx, nil, int64(len(r.old.pods))+1,
		clientv3.OpDelete(pods, clientv3.WithRange(end)), clientv3.OpDelete(markerOf(r.old.Prefix)))
}

// revoke revokes the leases of the run. A user without the right to list leases leaves them to expire.
func (r *remover) revoke(ctx context.Context, firstLease int64) error {
	all, err := r.client.Leases(ctx)
	if err != nil {
		return nil
	}
	var own []clientv3.LeaseID
	for _, lease := range all.Leases {
		if id := int64(lease.ID); id >= firstLease && id < firstLease+workload.LeaseIDs {
			own = append(own, lease.ID)
		}
	}
	for some := range slices.Chunk(own, revokeBlock) {
		if err := r.delete(ctx, nil, 0); err != nil {
			return err
		}
		if err := revokeSome(ctx, r.client, some); err != nil {
			return err
		}
		r.done.Leases += int64(len(some))
	}
	return nil
}

// deleteAll deletes page by page, except for the marker and the keys of pods, which are last.
func (r *remover) deleteAll(ctx context.Context) error {
	end := clientv3.GetPrefixRangeEnd(r.old.Prefix)
	for from := r.old.Prefix; ; {
		began := time.Now()
		page, err := get(ctx, r.client, from, clientv3.WithRange(end), clientv3.WithKeysOnly(), clientv3.WithLimit(leftoverPage))
		if err != nil || len(page.Kvs) == 0 {
			return err
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
		if err := r.deletePage(ctx, page.Kvs, page.Header.Revision); err != nil {
			return err
		}
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// deletePage deletes the run's keys among consecutive ones, in one transaction for each stretch of them.
func (r *remover) deletePage(ctx context.Context, keys []*mvccpb.KeyValue, revision int64) error {
	for len(keys) > 0 {
		n := 0
		for n < len(keys) && r.isOfRun(keys[n]) {
			n++
		}
		if n == 0 {
			if !r.isLast(string(keys[0].Key)) {
				r.done.Foreign++
			}
			keys = keys[1:]
			continue
		}
		from, to := string(keys[0].Key), string(keys[n-1].Key)+"\x00"
		still := []clientv3.Cmp{unchanged(from, to, revision)}
		if err := r.delete(ctx, still, int64(n), clientv3.OpDelete(from, clientv3.WithRange(to))); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// delete deletes in one transaction, if the prefix is as it was.
func (r *remover) delete(ctx context.Context, more []clientv3.Cmp, keys int64, deletions ...clientv3.Op) error {
	out, err := commit(ctx, r.client, append(slices.Clone(r.guards), more...), deletions...)
	switch {
	case err != nil:
		return err
	case !out.Succeeded:
		return ErrChanged
	}
	r.done.Keys += keys
	return nil
}

// isLast reports whether a key is the marker or a pod's.
func (r *remover) isLast(key string) bool {
	return key == markerOf(r.old.Prefix) || isPod(r.old.Prefix, key)
}

// isOfRun reports whether the run can have written a key: it has the name of one, and is not newer than the run's last pod.
// The size of numbered keys is not known here.
func (r *remover) isOfRun(kv *mvccpb.KeyValue) bool {
	if r.old.released > 0 && kv.ModRevision > r.old.released {
		return false
	}
	rest := strings.TrimPrefix(string(kv.Key), r.old.Prefix)
	return names.MatchString(rest) || workload.IsObject(r.old.Prefix, kv.Key)
}

// names are those of numbered keys, of locks, and of the keys of storms, after the prefix.
var names = regexp.MustCompile(`^([0-9]+|\.lock/(stm|[0-9]+)/[0-9a-f]+|\.storm/[0-9]+/[0-9]+/[0-9]+)$`)
