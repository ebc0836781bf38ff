package load

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// kernelAlarm is an alarm on a timerfd with absolute deadlines. The kernel
// fires it to the microsecond, where Go's timers are bound to the whole
// milliseconds of epoll_wait; and the waiting goroutine is parked in the
// network poller, where a clock_nanosleep would hold a thread and a processor.
// A timerfd is not subject to timer slack.
type kernelAlarm struct {
	file *os.File
	fd   int
	// kernel is what CLOCK_MONOTONIC shows at Instant 0.
	kernel      Instant
	interrupted atomic.Bool
	expirations [8]byte
}

// newAlarm falls back to Go's timers where the kernel gives no timerfd.
func newAlarm() alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newTimerAlarm()
	}
	// Reading our clock first errs to the late side: no request starts early.
	ours := Now()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		_ = unix.Close(fd)
		return newTimerAlarm()
	}
	kernel := Instant(now.Nano()) - ours
	return &kernelAlarm{file: os.NewFile(uintptr(fd), "timerfd"), fd: fd, kernel: kernel}
}

func (a *kernelAlarm) wait(until Instant) {
	// A deadline of 0 would disarm the timer.
	a.arm(max(until.Add(time.Duration(a.kernel)), 1))
	// interrupt arms the timer too, perhaps before the line above did.
	if a.interrupted.Load() {
		return
	}
	if _, err := a.file.Read(a.expirations[:]); err != nil {
		time.Sleep(until.Sub(Now()))
	}
}

func (a *kernelAlarm) arm(deadline Instant) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(deadline))}
	_ = unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
}

func (a *kernelAlarm) interrupt() {
	a.interrupted.Store(true)
	a.arm(1)
}

func (a *kernelAlarm) close() { _ = a.file.Close() }
