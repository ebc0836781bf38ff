package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// KernelClock tells Instants as CLOCK_MONOTONIC, by which timers of the kernel
// wait for absolute deadlines: however long it takes to set one, it expires when
// it was to.
type KernelClock struct {
	// origin is what CLOCK_MONOTONIC shows at Instant 0.
	origin Instant
}

// NewKernelClock compares both clocks. It fails where the kernel's cannot be read.
func NewKernelClock() (KernelClock, error) {
	// Reading our clock first errs to the late side: nothing starts early.
	ours := Now()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return KernelClock{}, err
	}
	return KernelClock{Instant(now.Nano()) - ours}, nil
}

// SetTimer lets a timerfd of CLOCK_MONOTONIC expire at an instant, which is at
// once if it has passed.
func (c KernelClock) SetTimer(fd int, at Instant) error {
	// A deadline of 0 would disarm the timer.
	deadline := max(at.Add(time.Duration(c.origin)), 1)
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(deadline))}
	return unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
}
