//go:build stores

package etcd

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/kinetest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership/ownershiptest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func ofOtherOnKine(p *plan.Plan) { p.RunUID, p.Prefix = otherUID, "etcdbench/2/" }

func TestKineHasOneHolderOfItsLock(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c, own := kineClientOf(t, server), onKine(server)
	ownershiptest.OneHolder(t, ownershiptest.Lockers{
		First: kineOf(t, own, 0), Beside: kineOf(t, own, 1), Other: kineOf(t, onKine(server, ofOtherOnKine), 0), UID: ownUID,
		Left: func(t *testing.T) (left []string) {
			if kv := c.get(t, ownership.LockKey); kv != nil {
				left = append(left, ownership.LockKey)
			}
			return left
		},
	})
}

// Each pod of a run renews the lock, and leaves its value.
func TestAnotherPodRenewsTheLockOfKine(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c, own := kineClientOf(t, server), onKine(server)
	ownershiptest.WantHolder(t, "taking it", load.Held, kineOf(t, own, 0).Lock)
	before := c.get(t, ownership.LockKey)
	ownershiptest.WantHolder(t, "another pod", load.Held, kineOf(t, own, 1).Lock)
	if now := c.get(t, ownership.LockKey); now == nil || now.Version <= before.Version || string(now.Value) != string(before.Value) {
		t.Errorf("another pod has not renewed the lock: %v", now)
	}
}

// A holder that was killed renews nothing. Within 30 s another run gets the lock.
func TestKineFreesTheLockOfAHolderThatIsGone(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	server.Client(t)
	ownershiptest.HolderGone(t, kineOf(t, onKine(server), 0), kineOf(t, onKine(server, ofOtherOnKine), 0))
}

// A run holds its lock again after its kine was frozen for longer than the lock lasts.
func TestKineIsFrozenUnderTheHolder(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	server.Client(t)
	ownershiptest.HolderFrozen(t, kineOf(t, onKine(server), 0), server.Pause)
}
