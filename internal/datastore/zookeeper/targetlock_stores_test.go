//go:build stores

package zookeeper

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership/ownershiptest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func wantHolder(t *testing.T, d *Driver, state load.LockState, uid string) {
	t.Helper()
	holder, err := d.Lock(bounded(t))
	if err != nil || holder.State != state || holder.RunUID != uid {
		t.Fatalf("got %+v, %v: wanted %s, by %q", holder, err, state, uid)
	}
}

func TestOneRunHoldsTheLock(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	own := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Load.Pods = 2 })
	other := driverOf(t, planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	ownershiptest.OneHolder(t, ownershiptest.Lockers{
		First: driverOf(t, own, 0), Beside: driverOf(t, own, 1), Other: other, UID: own.RunUID,
	})
}

// The lock outlasts the control session, and goes with the driver of client pod 0.
func TestTheLockGoesWithItsHolder(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	own := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Load.Pods = 2 })
	first, second := driverOf(t, own, 0), driverOf(t, own, 1)
	other := driverOf(t, planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	wantHolder(t, first, load.Held, "")
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
}

// A run whose request to free the lock got no response leaves the lock alone that another run has taken since.
func TestFreeingALockIsNotRepeated(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	other := driverOf(t, planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	// The proxy loses the response to the first request that frees the lock, and then ends that connection.
	var frees, loses atomic.Bool
	codes := []spec.RPC{spec.RPCMulti, spec.RPCDelete, spec.RPCCloseSession}
	through := proxy(t, server.Endpoint(), func(server, client net.Conn) (requests, responses io.Writer) {
		return writer(func(frame []byte) (int, error) {
				cuts := slices.Contains(codes, rpcs[int32(binary.BigEndian.Uint32(frame[codeAt:codeEnd]))]) && frees.CompareAndSwap(true, false)
				if cuts {
					loses.Store(true)
				}
				n, err := server.Write(frame)
				if !cuts || err != nil {
					return n, err
				}
				ctx := bounded(t)
				await(t, ctx, func() bool {
					holder, err := other.Lock(ctx)
					return err == nil && holder.State == load.Held
				})
				loses.Store(false)
				return n, io.ErrClosedPipe
			}), writer(func(frame []byte) (int, error) {
				if loses.Load() {
					return len(frame), nil
				}
				return client.Write(frame)
			})
	})
	own := driverOf(t, planFor([]string{through}), 0)
	wantHolder(t, own, load.Held, "")
	frees.Store(true)
	if err := own.Unlock(bounded(t)); err != nil {
		t.Error(err)
	}
	wantHolder(t, own, load.HeldByOther, otherUID)
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
