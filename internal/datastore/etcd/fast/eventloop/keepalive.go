package eventloop

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// keepAlive loses a link whose server has vanished without closing it, for example a host that lost its power. It
// belongs to the link's loop.
//
//	listening ── calls, and nothing came for KeepAliveTime ──► pinging
//	    ▲                                                        │
//	    ├──────────────────── something came ◄───────────────────┤
//	   lost ◄────────── nothing came for KeepAliveTimeout ◄──────┘
//
// Without calls it sends no PING: etcd takes such a PING for an attack.
type keepAlive struct {
	link  *Link
	timer *time.Timer
	// lastRead is when the link last read something, and pingedAt when it last sent a PING.
	lastRead, pingedAt load.Instant
	pinging            bool
}

// start begins the keep-alive.
func (a *keepAlive) start(k *Link) {
	a.link, a.lastRead = k, load.Now()
	check := a.check
	a.timer = time.AfterFunc(k.conn.client.config.KeepAliveTime, func() { k.loop.Post(check) })
}

func (a *keepAlive) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// check does what is due, and sets the timer for the next check.
func (a *keepAlive) check() {
	if a.link.closed {
		return
	}
	own, now := &a.link.conn.client.config, load.Now()
	a.pinging = a.pinging && a.lastRead < a.pingedAt
	quiet := now.Sub(a.lastRead)
	switch {
	case a.pinging:
		a.await(own.KeepAliveTimeout - now.Sub(a.pingedAt))
	case quiet < own.KeepAliveTime:
		a.timer.Reset(own.KeepAliveTime - quiet)
	case a.link.session.Idle():
		a.timer.Reset(own.KeepAliveTime)
	default:
		a.pinging, a.pingedAt = true, now
		a.link.session.Ping()
		a.link.Touch()
		a.await(own.KeepAliveTimeout)
	}
}

// await waits for the rest of the timeout, but at most KeepAliveTime: the next silence may begin with the response.
func (a *keepAlive) await(left time.Duration) {
	own := &a.link.conn.client.config
	if left <= 0 {
		a.link.lose("the server has not answered a PING within " + own.KeepAliveTimeout.String())
		return
	}
	a.timer.Reset(min(left, own.KeepAliveTime))
}
