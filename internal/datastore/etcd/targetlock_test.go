package etcd

import (
	"context"
	"errors"
	"path"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func wantHolder(t *testing.T, d *Driver, state load.LockState, uid string) load.Holder {
	t.Helper()
	holder, err := d.Lock(withTimeout(t))
	if err != nil || holder.State != state || holder.RunUID != uid {
		t.Fatalf("got %+v, %v: wanted %s, by %q", holder, err, state, uid)
	}
	return holder
}

func wantSeen(t *testing.T, d *Driver, state load.LockState) {
	t.Helper()
	if holder, err := d.Look(withTimeout(t)); err != nil || holder.State != state {
		t.Fatalf("got %+v, %v: wanted %s", holder, err, state)
	}
}

func unlock(t *testing.T, d *Driver) {
	t.Helper()
	if err := d.Unlock(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
}

func revokeLock(t *testing.T, client *clientv3.Client) {
	t.Helper()
	if _, err := client.Revoke(withTimeout(t), lockLease); err != nil {
		t.Fatal(err)
	}
}

// The lock belongs to a run, and all of its pods hold it.
func TestOneRunHoldsTheLock(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	own := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods = 2 })
	first, second := newDriver(t, own, 0), newDriver(t, own, 1)
	other := newDriver(t, under(cluster.Endpoints, "other/", otherUID), 0)

	wantSeen(t, other, load.Free)
	wantHolder(t, first, load.Held, "")
	wantHolder(t, second, load.Held, "")
	wantSeen(t, first, load.Free)
	wantSeen(t, other, load.HeldByOther)
	if got := wantHolder(t, other, load.HeldByOther, ownUID); time.Since(got.Since).Abs() > time.Hour {
		t.Errorf("it says that the run has held the lock since %v", got.Since)
	}
	// A run does not free the lock of another.
	unlock(t, other)
	wantHolder(t, other, load.HeldByOther, ownUID)

	// A lock that has expired is taken again. If another run was first, it has the lock.
	revokeLock(t, client)
	wantHolder(t, first, load.Held, "")
	wantHolder(t, other, load.HeldByOther, ownUID)
	revokeLock(t, client)
	wantHolder(t, other, load.Held, "")
	for _, d := range []*Driver{first, second} {
		// Its last renewal is older than the TTL.
		d.lock.until = time.Now()
		wantHolder(t, d, load.HeldByOther, otherUID)
		unlock(t, d)
	}
	wantHolder(t, other, load.Held, "")
	unlock(t, other)
	wantHolder(t, first, load.Held, "")
	unlock(t, first)
	if left, err := client.Get(withTimeout(t), ownership.LockKey); err != nil || left.Count > 0 {
		t.Errorf("the key of the lock is left: %v, %v", left, err)
	}
	leases, err := client.Leases(withTimeout(t))
	if err != nil || len(leases.Leases) > 0 {
		t.Errorf("leases are left: %v, %v", leases, err)
	}
}

// The requests of the lock are counted.
func TestTheRequestsOfTheLockAreCounted(t *testing.T) {
	t.Parallel()
	cluster, _ := oneMember(t)
	d := newDriver(t, planFor(cluster.Endpoints), 0)
	wantHolder(t, d, load.Held, "")
	wantHolder(t, d, load.Held, "")
	unlock(t, d)
	got := d.Requests()
	for rpc, want := range map[spec.RPC]uint64{"LeaseTimeToLive": 1, "LeaseGrant": 1, "Txn": 1, "LeaseKeepAlive": 1, "Range": 1, "LeaseRevoke": 1} {
		if got[rpc][results.PhaseControl] != want {
			t.Errorf("%s was counted %d times, wanted %d", rpc, got[rpc][results.PhaseControl], want)
		}
	}
}

// A user who may not write the lock's key holds the lock all the same. Others then do not know who holds it.
func TestALockWithoutAName(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	enableAuth(t, client)
	asBench := withUser(t, "bench", "benchpass")
	first := newDriver(t, planFor(cluster.Endpoints, asBench), 0)
	other := newDriver(t, planFor(cluster.Endpoints, asBench, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	wantHolder(t, first, load.Held, "")
	wantHolder(t, first, load.Held, "")
	wantHolder(t, other, load.HeldByUnknown, "")
	unlock(t, other)
	wantHolder(t, other, load.HeldByUnknown, "")
	unlock(t, first)
	wantHolder(t, other, load.Held, "")
	// Renewals that are further apart than the lease's TTL do not show who holds the lock.
	other.lock.until = time.Now()
	wantHolder(t, other, load.HeldByUnknown, "")
	unlock(t, other)
	wantHolder(t, first, load.HeldByUnknown, "")
}

// Servers that speak only a part of etcd's API serve no leases: kine answers a grant with an ID of its own, others with
// an error.
func TestATargetWithoutLeasesHasNoLock(t *testing.T) {
	t.Parallel()
	cluster, _ := oneMember(t)
	unsupported := errors.New("not supported")
	for name, answer := range map[string]func() ([]byte, error){
		"another ID": func() ([]byte, error) { return proto.Marshal(&etcdserverpb.LeaseGrantResponse{ID: 20, TTL: 20}) },
		"an error":   func() ([]byte, error) { return nil, unsupported },
	} {
		proxy := etcdtest.StartProxy(t, cluster.Endpoints[0], func(_ context.Context, method string, _ []byte, forward func() ([]byte, error)) ([]byte, error) {
			switch path.Base(method) {
			case "LeaseTimeToLive":
				return nil, unsupported
			case "LeaseGrant":
				return answer()
			}
			return forward()
		})
		d := newDriver(t, planFor([]string{proxy}), 0)
		t.Log(name)
		wantSeen(t, d, load.Free)
		wantHolder(t, d, load.NoLock, "")
		unlock(t, d)
	}
}

// Each grant that a full database refuses raises NOSPACE again. So there is one.
func TestAGrantThatEtcdRefusesForGoodIsNotRepeated(t *testing.T) {
	t.Parallel()
	cluster, _ := full(t)
	grants := 0
	proxy := etcdtest.StartProxy(t, cluster.Endpoints[0], func(_ context.Context, method string, _ []byte, forward func() ([]byte, error)) ([]byte, error) {
		if path.Base(method) == "LeaseGrant" {
			grants++
		}
		return forward()
	})
	d := newDriver(t, planFor([]string{proxy}), 0)
	for range 3 {
		_, err := d.Lock(withTimeout(t))
		wantFailure(t, err, results.FailureAlarmRaised, "NOSPACE", "efragment")
	}
	if grants != 1 {
		t.Errorf("%d grants were sent, wanted one", grants)
	}
}
