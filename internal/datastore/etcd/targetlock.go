package etcd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
)

// targetLock is ownership.LockStore for etcd: a lease with a fixed ID, which can be granted only while it does not exist.
// Every user may grant and renew leases, whatever its role. Under the lease lies ownership.LockKey, which says who holds the
// lock, if the user may write it. Without the key, a pod knows only of its own renewals: it holds the lock if the last one is
// younger than the lease's TTL. etcd frees the lock of a holder that is gone after this TTL, or later if its leader changes.
type targetLock struct {
	driver *Driver
	// content is what the key says, or would say, while this pod holds the lock, which is until the lease expires at the
	// earliest.
	content []byte
	until   time.Time
	// named: the key says who holds the lock, or the user may not write it. nameless: the user may not.
	named, nameless bool
	// refused is why etcd refuses to grant the lease for good: another grant would fail too, and raise NOSPACE again.
	refused error
}

// lockLease is "etcdbenc" in ASCII.
const lockLease clientv3.LeaseID = 0x6574636462656e63

func (l *targetLock) isHeld() bool { return time.Now().Before(l.until) }

// Settle implements ownership.LockStore.
func (l *targetLock) Settle(ctx context.Context, err error) error {
	return settled(ctx, err, l.driver.addresses())
}

// SeeLock implements ownership.LockStore. A server that does not know this request is asked for a lock when one is taken.
func (l *targetLock) SeeLock(ctx context.Context) (seen ownership.LockSeen, err error) {
	if l.isHeld() {
		return ownership.LockSeen{Exists: true, Content: l.content}, nil
	}
	client, err := l.driver.controlClient(ctx)
	if err != nil {
		return seen, err
	}
	found, err := client.TimeToLive(ctx, lockLease)
	switch {
	case err != nil && isUnknownRPC(err):
		return seen, nil
	case err != nil || found.TTL <= 0:
		return seen, err
	}
	content, err := l.read(ctx, client)
	return ownership.LockSeen{Exists: true, Content: content}, err
}

// isUnknownRPC reports whether a server does not know an RPC of etcd: servers that speak only a part of etcd's API answer
// so.
func isUnknownRPC(err error) bool {
	return codeOf(err) == codes.Unimplemented || codeOf(err) == codes.Unknown && strings.Contains(err.Error(), "not supported")
}

// read returns the content of the key of a lock that exists; nil if it is not known.
func (l *targetLock) read(ctx context.Context, client *clientv3.Client) ([]byte, error) {
	found, err := client.Get(ctx, ownership.LockKey)
	switch {
	case codeOf(err) == codes.PermissionDenied:
		return nil, nil
	case err != nil:
		return nil, err
	case len(found.Kvs) == 0 || found.Kvs[0].Lease != int64(lockLease):
		return nil, nil
	}
	return found.Kvs[0].Value, nil
}

// MakeLock implements ownership.LockStore.
func (l *targetLock) MakeLock(ctx context.Context, content []byte) (made bool, err error) {
	if l.refused != nil {
		return false, l.refused
	}
	client, err := l.driver.controlClient(ctx)
	if err != nil {
		return false, err
	}
	sent := time.Now()
	granted, err := leases(client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{ID: int64(lockLease), TTL: int64(load.LockTTL / time.Second)})
	switch {
	case isLeaseExists(err):
		return false, nil
	case err != nil && isUnknownRPC(err), err == nil && granted.ID != int64(lockLease):
		// A server without leases of its own may answer with another ID.
		return false, ownership.ErrNoLock
	case isFull(err), isRefused(err):
		l.refused = err
		return false, err
	case err != nil:
		return false, err
	}
	l.content, l.until, l.named, l.nameless = content, sent.Add(load.LockTTL), false, false
	return true, l.name(ctx, client)
}

func isLeaseExists(err error) bool {
	return err != nil && rpctypes.Error(err) == rpctypes.ErrLeaseExist
}

// name writes who holds the lock. Without the right to write the key, the run holds the lock without a name.
func (l *targetLock) name(ctx context.Context, client *clientv3.Client) error {
	if l.named {
		return nil
	}
	_, err := client.Txn(ctx).If(noKey(ownership.LockKey)).Then(clientv3.OpPut(ownership.LockKey, string(l.content), clientv3.WithLease(lockLease))).Commit()
	l.nameless = codeOf(err) == codes.PermissionDenied
	if l.nameless {
		err = nil
	}
	l.named = err == nil
	return err
}

// RenewLock implements ownership.LockStore. A renewal that is not answered before the lease can expire is none: it may renew
// the lease of another run.
func (l *targetLock) RenewLock(ctx context.Context, seen ownership.LockSeen) (renewed bool, err error) {
	client, err := l.driver.controlClient(ctx)
	if err != nil {
		return false, err
	}
	sent, wasHeld, bounded := time.Now(), l.isHeld(), ctx
	if wasHeld {
		var cancel context.CancelFunc
		bounded, cancel = context.WithDeadline(ctx, l.until)
		defer cancel()
	}
	var resp load.Response
	keepAliveOnce(bounded, l.driver, client, &load.Request{Lease: int64(lockLease)}, &resp)
	switch {
	case resp.Code == load.CodeNotFound:
		l.until = time.Time{}
		return false, nil
	case !resp.Succeeded():
		return false, fmt.Errorf("renewing the lock of the target: %s: %s", resp.Code, resp.Detail)
	}
	if !wasHeld {
		// The key may have changed before the renewal arrived.
		now, err := l.read(bounded, client)
		if err != nil || string(now) != string(seen.Content) {
			return false, err
		}
		l.content, l.named, l.nameless = now, true, false
	}
	l.until = sent.Add(load.LockTTL)
	return true, l.name(bounded, client)
}

// FreeLock implements ownership.LockStore. A lease of another run is not revoked: this run's own cannot have expired before
// until, and its key, if it has one, must name this run.
func (l *targetLock) FreeLock(ctx context.Context, isOwn func([]byte) bool) error {
	if !l.isHeld() {
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, l.until)
	defer cancel()
	client, err := l.driver.controlClient(ctx)
	if err != nil {
		return err
	}
	if !l.nameless {
		content, err := l.read(ctx, client)
		if err != nil || !isOwn(content) {
			return err
		}
	}
	l.until, l.named, l.nameless = time.Time{}, false, false
	_, err = leases(client).LeaseRevoke(ctx, &etcdserverpb.LeaseRevokeRequest{ID: int64(lockLease)})
	if err != nil && rpctypes.Error(err) == rpctypes.ErrLeaseNotFound {
		err = nil
	}
	return err
}
