//go:build stores

package consul

import (
	"net/http"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul/consultest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership/ownershiptest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func ofOther(p *plan.Plan) { p.RunUID, p.Prefix = otherUID, "etcdbench/2/" }

func TestOneRunHoldsTheLock(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	own := planFor(servers)
	ownershiptest.OneHolder(t, ownershiptest.Lockers{
		First: driverOf(t, own, 0), Beside: driverOf(t, own, 1), Other: driverOf(t, planFor(servers, ofOther), 0), UID: ownUID,
		Left: func(t *testing.T) []string { return servers[0].Keys(t, "") },
	})
}

// A holder that was killed renews nothing. Another run gets the lock when it has expired.
func TestTheLockOfAHolderThatIsGone(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	ownershiptest.HolderGone(t, driverOf(t, planFor(servers), 0), driverOf(t, planFor(servers, ofOther), 0))
}

// A run holds its lock again after its Consul was frozen for longer than the lock lasts, and so it does after the key was
// deleted by hand.
func TestTheLockIsTakenAgain(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	holder := driverOf(t, planFor(servers), 0)
	ownershiptest.WantHolder(t, "taking it", load.Held, holder.Lock)
	servers[0].Ask(t, http.MethodDelete, "/v1/kv/"+ownership.LockKey, "")
	ownershiptest.WantHolder(t, "after the key was deleted", load.Held, holder.Lock)
	// The session ends between the look and the renewal.
	l := &targetLock{kv: kv{holder}}
	seen, err := l.SeeLock(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	servers[0].Ask(t, http.MethodPut, "/v1/session/destroy/"+l.session, "")
	if renewed, err := l.RenewLock(bounded(t), seen); err != nil || renewed {
		t.Errorf("renewed a session that has ended: %t, %v", renewed, err)
	}
	ownershiptest.WantHolder(t, "after the session has ended", load.Held, holder.Lock)
	ownershiptest.HolderFrozen(t, holder, servers[0].Pause)
}
