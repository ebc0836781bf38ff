package etcd

import (
	"context"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestAHandOffIsFromTheAnswerToTheRelease(t *testing.T) {
	const won = load.Instant(100)
	tests := map[string]struct {
		happens func(*handOffs)
		want    load.Instant
	}{
		"the previous holder is of another pod": {func(*handOffs) {}, 0},
		"the answer came before":                {func(h *handOffs) { h.begin("a"); h.end("a", 70) }, 70},
		"the answer is on its way":              {func(h *handOffs) { h.begin("a") }, won},
		"the answer came a moment after":        {func(h *handOffs) { h.begin("a"); h.end("a", 101) }, won},
		"another was in front":                  {func(h *handOffs) { h.begin("b"); h.end("b", 70) }, 0},
		"the one in front has won since":        {func(h *handOffs) { h.begin("a"); h.end("a", 70); h.forget("a") }, 0},
		"it gave back once more, and latest":    {func(h *handOffs) { h.end("a", 70); h.begin("a"); h.end("a", 90) }, 90},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var h handOffs
			tc.happens(&h)
			if got := h.freed("a", won); got != tc.want {
				t.Errorf("got %d, wanted %d", got, tc.want)
			}
		})
	}
}

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
	own.locker = lockerFunc(func() { meanwhile = own.driver.handOffs.freed(own.key, 7) })
	do(t, own, load.Request{Operation: c.giveUp, Timeout: 5 * time.Second})
	if meanwhile != 7 {
		t.Errorf("before its response, the release counts as done at %d, wanted 7, the time of the call", meanwhile)
	}
}
