//go:build stores

package zookeeper

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func wantHolder(t *testing.T, d *Driver, state load.LockState, uid string) {
	t.Helper()
	holder, err := d.Lock(bounded(t))
	if err != nil || holder.State != state || holder.RunUID != uid {
		t.Fatalf("got %+v, %v: wanted %s, by %q", holder, err, state, uid)
	}
}

func wantSeen(t *testing.T, d *Driver, state load.LockState) {
	t.Helper()
	if holder, err := d.Look(bounded(t)); err != nil || holder.State != state {
		t.Fatalf("got %+v, %v: wanted %s", holder, err, state)
	}
}

// The lock belongs to a run, and all of its pods hold it. It goes with the driver of client pod 0, and with nothing else.
func TestOneRunHoldsTheLock(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	own := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Load.Pods = 2 })
	first, second := driverOf(t, own, 0), driverOf(t, own, 1)
	other := driverOf(t, planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	for _, d := range []*Driver{first, other} {
		wantSeen(t, d, load.Free)
	}
	wantHolder(t, first, load.Held, "")
	wantHolder(t, second, load.Held, "")
	wantSeen(t, second, load.Free)
	wantSeen(t, other, load.HeldByOther)
	wantHolder(t, other, load.HeldByOther, own.RunUID)
	if err := other.Unlock(bounded(t)); err != nil {
		t.Fatal(err)
	}
	wantHolder(t, other, load.HeldByOther, own.RunUID)
	// The control session is replaced.
	if control, err := first.controlSession(bounded(t)); err == nil {
		first.dropControl(control)
	}
	wantHolder(t, first, load.Held, "")
	wantHolder(t, other, load.HeldByOther, own.RunUID)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	wantHolder(t, second, load.Free, "")
	wantHolder(t, other, load.Held, "")
	wantHolder(t, second, load.HeldByOther, otherUID)
	if err := other.Unlock(bounded(t)); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, second, load.Free)
}
