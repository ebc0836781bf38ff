package load

import (
	"context"
	"sync/atomic"
	"time"
)

// alarm waits for instants, for one waiter at a time.
type alarm interface {
	// wait returns at the instant, or when interrupt is called, or was called
	// before.
	wait(until Instant)
	// interrupt ends this wait and all later ones.
	interrupt()
	// exact says whether it rings to some microseconds, and not to a millisecond.
	exact() bool
	// close frees the alarm; nobody may wait any more.
	close()
}

// boundAlarm is an alarm that the end of a context interrupts.
type boundAlarm struct {
	alarm
	unbind      func() bool
	interrupted chan struct{}
}

func newBoundAlarm(ctx context.Context) *boundAlarm {
	a := &boundAlarm{alarm: newAlarm(), interrupted: make(chan struct{})}
	a.unbind = context.AfterFunc(ctx, func() {
		a.interrupt()
		close(a.interrupted)
	})
	return a
}

// close frees the alarm once nobody is about to interrupt it: by then, its file
// descriptor might be another's.
func (a *boundAlarm) close() {
	if !a.unbind() {
		<-a.interrupted
	}
	a.alarm.close()
}

// timerAlarm is an alarm on Go's own timers, for systems that have nothing
// better. They are late by up to a millisecond or so; the recorded lateness
// shows it, and a warning says why.
type timerAlarm struct {
	stop    chan struct{}
	stopped atomic.Bool
}

func newTimerAlarm() *timerAlarm { return &timerAlarm{stop: make(chan struct{})} }

func (a *timerAlarm) wait(until Instant) {
	timer := time.NewTimer(until.Sub(Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.stop:
	}
}

func (a *timerAlarm) interrupt() {
	if a.stopped.CompareAndSwap(false, true) {
		close(a.stop)
	}
}

func (a *timerAlarm) exact() bool { return false }
func (a *timerAlarm) close()      {}
