package load

import (
	"context"
	"sync/atomic"
	"time"
)

// alarm waits for an instant. It serves one waiter at a time.
type alarm interface {
	// wait returns at the instant, or earlier if interrupt was called before or during the wait.
	wait(until Instant)
	// interrupt ends the current wait and all later ones.
	interrupt()
	// exact reports whether the alarm is accurate to microseconds; otherwise it is accurate to a millisecond.
	exact() bool
	// close frees the alarm. No wait may be in progress or follow.
	close()
}

// boundAlarm is an alarm that is interrupted when a context ends.
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

// close waits for a pending interrupt before it frees the alarm. Otherwise the interrupt could hit a file descriptor
// that has been reused.
func (a *boundAlarm) close() {
	if !a.unbind() {
		<-a.interrupted
	}
	a.alarm.close()
}

// timerAlarm is an alarm on Go's own timers, for systems without a better one. They are late by up to about a
// millisecond. The recorded lateness shows this, and a warning names the cause.
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
