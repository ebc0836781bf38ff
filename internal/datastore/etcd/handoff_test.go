package etcd

import (
	"context"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// lockerFunc is a locker whose unlock is a function.
type lockerFunc func()

func (lockerFunc) lock(context.Context) error { return nil }

func (f lockerFunc) unlock(context.Context) error {
	f()
	return nil
}

// The next client may get the lock before the response to the release arrives: that is a hand-off without delay, not an
// unknown one.
func TestAReleaseIsKnownBeforeItIsAnswered(t *testing.T) {
	cluster, _ := oneMember(t)
	c := contests["locks"]
	own := competitors(t, planFor(cluster.Endpoints, c.plan(1, 0), func(p *plan.Plan) { p.Load.Connections, p.Load.Clients = 1, 1 }))[0].conn.(*competitor)
	var meanwhile load.Instant
	own.locker = lockerFunc(func() { meanwhile = own.driver.handOffs.Freed(own.key, 7) })
	do(t, own, load.Request{Operation: c.giveUp, Timeout: 5 * time.Second})
	if meanwhile != 7 {
		t.Errorf("before its response, the release counts as done at %d, wanted 7, the time of the call", meanwhile)
	}
}
