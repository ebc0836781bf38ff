package wire

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// keepAlive gives a link up whose server has vanished without a word, such as a
// host that lost its power. It belongs to the link's loop.
//
//	listening ── calls, and nothing came for KeepAliveTime ──► asking
//	    ▲                                                        │
//	    ├──────────────────── something came ◄───────────────────┤
//	   lost ◄────────── nothing came for KeepAliveTimeout ◄──────┘
//
// Without calls it does not ask: etcd takes that for an attack.
type keepAlive struct {
	link  *Link
	timer *time.Timer
	// heard is when something came last, and asked when the link asked for it.
	heard, asked load.Instant
	asking       bool
}

// start listens from now on.
func (a *keepAlive) start(k *Link) {
	a.link, a.heard = k, load.Now()
	look := a.look
	a.timer = time.AfterFunc(k.conn.client.config.KeepAliveTime, func() { k.loop.Post(look) })
}

func (a *keepAlive) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// look does what is due, and looks again later.
func (a *keepAlive) look() {
	if a.link.closed {
		return
	}
	own, now := &a.link.conn.client.config, load.Now()
	a.asking = a.asking && a.heard < a.asked
	quiet := now.Sub(a.heard)
	switch {
	case a.asking:
		a.await(own.KeepAliveTimeout - now.Sub(a.asked))
	case quiet < own.KeepAliveTime:
		a.timer.Reset(own.KeepAliveTime - quiet)
	case a.link.session.Idle():
		a.timer.Reset(own.KeepAliveTime)
	default:
		a.asking, a.asked = true, now
		a.link.session.Ping()
		a.link.Touch()
		a.await(own.KeepAliveTimeout)
	}
}

// await waits for an answer for what is left of its time, but looks as often as
// before: the next silence may begin with the answer.
func (a *keepAlive) await(left time.Duration) {
	own := &a.link.conn.client.config
	if left <= 0 {
		a.link.lose("the server has not answered a PING for " + own.KeepAliveTimeout.String())
		return
	}
	a.timer.Reset(min(left, own.KeepAliveTime))
}
