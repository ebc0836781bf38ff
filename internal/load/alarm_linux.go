package load

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// kernelAlarm is an alarm on a timerfd with absolute deadlines. The kernel fires it to the microsecond; Go's timers are
// bound to the whole milliseconds of epoll_wait. The waiting goroutine is parked in the network poller, whereas
// clock_nanosleep would occupy a thread and a processor. Timer slack does not apply to a timerfd.
type kernelAlarm struct {
	file        *os.File
	fd          int
	clock       KernelClock
	interrupted atomic.Bool
	expirations [8]byte
}

// newAlarm falls back to Go's timers, which are not exact, if the kernel provides no timerfd.
func newAlarm() alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newTimerAlarm()
	}
	clock, err := NewKernelClock()
	if err != nil {
		_ = unix.Close(fd)
		return newTimerAlarm()
	}
	return &kernelAlarm{file: os.NewFile(uintptr(fd), "timerfd"), fd: fd, clock: clock}
}

func (a *kernelAlarm) wait(until Instant) {
	_ = a.clock.SetTimer(a.fd, until)
	// interrupt also arms the timer, perhaps before the line above did.
	if a.interrupted.Load() {
		return
	}
	if _, err := a.file.Read(a.expirations[:]); err != nil {
		time.Sleep(until.Sub(Now()))
	}
}

func (a *kernelAlarm) interrupt() {
	a.interrupted.Store(true)
	_ = a.clock.SetTimer(a.fd, 0)
}

func (a *kernelAlarm) exact() bool { return true }

func (a *kernelAlarm) close() { _ = a.file.Close() }
