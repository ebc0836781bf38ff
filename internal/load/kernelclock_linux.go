package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// KernelClock converts Instants to CLOCK_MONOTONIC, so that kernel timers can wait for absolute deadlines. The time
// that it takes to set such a timer does not delay its expiry.
type KernelClock struct {
	// origin is the reading of CLOCK_MONOTONIC at Instant 0.
	origin Instant
}

// NewKernelClock compares both clocks. It fails if the kernel's clock cannot be read.
func NewKernelClock() (KernelClock, error) {
	// Our clock is read first, so that an error makes a start late, never early.
	ours := Now()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return KernelClock{}, err
	}
	return KernelClock{Instant(now.Nano()) - ours}, nil
}

// SetTimer arms a timerfd of CLOCK_MONOTONIC for an instant. If the instant has passed, the timer expires at once.
func (c KernelClock) SetTimer(fd int, at Instant) error {
	// A deadline of 0 would disarm the timer.
	deadline := max(at.Add(time.Duration(c.origin)), 1)
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(deadline))}
	return unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
}
