package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// The lock of an etcd cluster is a lease with a fixed ID: it can be granted only while it does not exist. Every user may
// grant and renew leases, whatever its role. Under the lease lies lockKey, which says who holds the lock, if
// the user may write it. Without the key, a pod knows only of its own renewals: it holds the lock if the last one is
// younger than the lease's TTL. Only client pod 0 takes the lock. The others renew it if the key names their run.

// lockKey lies beside the default prefixes of runs: most users with rights on these may write it.
const lockKey = "etcdbench/.lock"

// lockLease is "etcdbenc" in ASCII.
const lockLease clientv3.LeaseID = 0x6574636462656e63

// lockContent is the content of the lock's key. It has no name: other tenants can read it.
type lockContent struct {
	RunUID string    `json:"runUID"`
	Since  time.Time `json:"since"`
}

// targetLock is what a driver knows of the lock.
type targetLock struct {
	// until is when the lease expires at the earliest; it has passed if this pod does not hold the lock.
	until time.Time
	// since is when this pod took the lock. named: the key says who holds it, or the user may not write it.
	since time.Time
	named bool
	// nameless: the user may not write the key.
	nameless bool
	// refused is why etcd refuses to grant the lease for good: another grant would fail too, and raise NOSPACE again.
	refused error
}

// Look implements load.Locker.
func (d *Driver) Look(ctx context.Context) (load.Holder, error) {
	client, err := d.controlClient(ctx)
	if err != nil {
		return load.Holder{}, settled(ctx, err, d.addresses())
	}
	holder, err := d.seeLock(ctx, client)
	return holder, settled(ctx, err, d.addresses())
}

// seeLock reads the lock. A server that does not know this request is asked for a lock when one is taken.
func (d *Driver) seeLock(ctx context.Context, client *clientv3.Client) (load.Holder, error) {
	if time.Now().Before(d.lock.until) {
		return load.Holder{State: load.Free}, nil
	}
	found, err := client.TimeToLive(ctx, lockLease)
	switch {
	case err == nil && found.TTL > 0:
		return d.lockHolder(ctx, client)
	case err != nil && !isUnknownRPC(err):
		return load.Holder{}, err
	}
	return load.Holder{State: load.Free}, nil
}

// Lock implements load.Locker.
func (d *Driver) Lock(ctx context.Context) (load.Holder, error) {
	client, err := d.controlClient(ctx)
	if err != nil {
		return load.Holder{}, settled(ctx, err, d.addresses())
	}
	holder, err := d.holdLock(ctx, client)
	return holder, settled(ctx, err, d.addresses())
}

func (d *Driver) holdLock(ctx context.Context, client *clientv3.Client) (load.Holder, error) {
	if time.Now().Before(d.lock.until) {
		if exists, err := d.renewLock(ctx, client); err != nil || exists {
			return load.Holder{State: load.Held}, err
		}
	}
	// Looking is a read. A grant is a write of all members, also one that fails.
	holder, err := d.seeLock(ctx, client)
	if err != nil || holder.State != load.Free {
		return holder, err
	}
	return d.joinLock(ctx, client)
}

// joinLock takes a lock that another run does not hold. If another pod of the run holds it, this pod renews it, too.
func (d *Driver) joinLock(ctx context.Context, client *clientv3.Client) (load.Holder, error) {
	if d.index == 0 {
		granted, err := d.grantLock(ctx, client)
		if err != nil || granted.State != load.Free {
			return granted, err
		}
	}
	found, err := client.TimeToLive(ctx, lockLease)
	if err != nil || found.TTL <= 0 {
		return load.Holder{State: load.Free}, ignoreUnknownRPC(err)
	}
	d.lock = targetLock{named: true}
	exists, err := d.renewLock(ctx, client)
	if err != nil || !exists {
		return load.Holder{State: load.Free}, err
	}
	// The key may have changed before the renewal arrived.
	holder, err := d.lockHolder(ctx, client)
	if err != nil || holder.State != load.Free {
		d.lock = targetLock{}
		return holder, err
	}
	return load.Holder{State: load.Held}, nil
}

func ignoreUnknownRPC(err error) error {
	if err != nil && isUnknownRPC(err) {
		return nil
	}
	return err
}

// isUnknownRPC reports whether a server does not know an RPC of etcd: servers that speak only a part of etcd's API answer
// so.
func isUnknownRPC(err error) bool {
	return codeOf(err) == codes.Unimplemented || codeOf(err) == codes.Unknown && strings.Contains(err.Error(), "not supported")
}

// grantLock takes a lock that does not exist. Otherwise it returns who holds it.
func (d *Driver) grantLock(ctx context.Context, client *clientv3.Client) (load.Holder, error) {
	if d.lock.refused != nil {
		return load.Holder{}, d.lock.refused
	}
	sent := time.Now()
	granted, err := leases(client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{ID: int64(lockLease), TTL: int64(load.LockTTL / time.Second)})
	switch {
	case isLeaseExists(err):
		return d.lockHolder(ctx, client)
	case err != nil && isUnknownRPC(err), err == nil && granted.ID != int64(lockLease):
		// A server without leases of its own may answer with another ID.
		return load.Holder{State: load.NoLock}, nil
	case isFull(err), isRefused(err):
		d.lock.refused = err
		return load.Holder{}, d.lock.refused
	case err != nil:
		return load.Holder{}, err
	}
	d.lock = targetLock{until: sent.Add(load.LockTTL), since: sent}
	return load.Holder{State: load.Held}, d.nameLock(ctx, client)
}

func isLeaseExists(err error) bool {
	return err != nil && rpctypes.Error(err) == rpctypes.ErrLeaseExist
}

// nameLock writes who holds the lock. Without the right to write the key, the run holds the lock without a name.
func (d *Driver) nameLock(ctx context.Context, client *clientv3.Client) error {
	if d.lock.named {
		return nil
	}
	content, err := json.Marshal(lockContent{RunUID: d.plan.RunUID, Since: d.lock.since.UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	_, err = client.Txn(ctx).If(noKey(lockKey)).Then(clientv3.OpPut(lockKey, string(content), clientv3.WithLease(lockLease))).Commit()
	d.lock.nameless = codeOf(err) == codes.PermissionDenied
	if d.lock.nameless {
		err = nil
	}
	d.lock.named = err == nil
	return err
}

// renewLock renews the lease, and returns whether it still exists. A renewal that is not answered before the lease can
// expire is none: it may renew the lease of another run.
func (d *Driver) renewLock(ctx context.Context, client *clientv3.Client) (exists bool, err error) {
	sent := time.Now()
	if sent.Before(d.lock.until) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, d.lock.until)
		defer cancel()
	}
	var resp load.Response
	keepAliveOnce(ctx, d, client, &load.Request{Lease: int64(lockLease)}, &resp)
	switch {
	case resp.Code == load.CodeNotFound:
		d.lock.until = time.Time{}
		return false, nil
	case !resp.Succeeded():
		return false, fmt.Errorf("renewing the lock of the target: %s: %s", resp.Code, resp.Detail)
	}
	d.lock.until = sent.Add(load.LockTTL)
	return true, d.nameLock(ctx, client)
}

// lockHolder returns who holds a lock that exists.
func (d *Driver) lockHolder(ctx context.Context, client *clientv3.Client) (load.Holder, error) {
	found, err := client.Get(ctx, lockKey)
	switch {
	case codeOf(err) == codes.PermissionDenied:
		return load.Holder{State: load.HeldByUnknown}, nil
	case err != nil:
		return load.Holder{}, err
	case len(found.Kvs) == 0 || found.Kvs[0].Lease != int64(lockLease):
		return load.Holder{State: load.HeldByUnknown}, nil
	}
	var content lockContent
	if err := json.Unmarshal(found.Kvs[0].Value, &content); err != nil || content.RunUID == "" {
		return load.Holder{State: load.HeldByUnknown}, nil
	}
	if content.RunUID == d.plan.RunUID {
		return load.Holder{State: load.Free}, nil
	}
	return load.Holder{State: load.HeldByOther, RunUID: content.RunUID, Since: content.Since}, nil
}

// Unlock implements load.Locker. A lease of another run is not revoked: this run's own cannot have expired before until,
// and its key, if it has one, must name this run.
func (d *Driver) Unlock(ctx context.Context) error {
	if !time.Now().Before(d.lock.until) {
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, d.lock.until)
	defer cancel()
	client, err := d.controlClient(ctx)
	if err != nil {
		return settled(ctx, err, d.addresses())
	}
	if !d.lock.nameless {
		holder, err := d.lockHolder(ctx, client)
		if err != nil || holder.State != load.Free {
			return settled(ctx, err, d.addresses())
		}
	}
	d.lock = targetLock{}
	_, err = leases(client).LeaseRevoke(ctx, &etcdserverpb.LeaseRevokeRequest{ID: int64(lockLease)})
	if err != nil && rpctypes.Error(err) == rpctypes.ErrLeaseNotFound {
		err = nil
	}
	return settled(ctx, err, d.addresses())
}
