package tuning

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// timeslice is the shortest that Linux lets a thread ask for.
const timeslice = 100 * time.Microsecond

// askForShortTimeslices lets this process's threads ask for their processor time
// in short pieces: who takes less at a time is let in sooner after waking up, so
// that beside busy neighbours requests start when they are due. The share of
// the processor stays as it is, and so no privilege is needed. It does nothing
// before Linux 6.12, or where it is forbidden. Threads to come inherit it.
//
// A closed loop starts no request late by definition, and is interrupted more
// often for nothing: it does not ask.
func askForShortTimeslices() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			shortenTimeslice(id)
		}
	}
}

func shortenTimeslice(thread int) {
	attr, err := unix.SchedGetAttr(thread, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return
	}
	attr.Runtime = uint64(timeslice.Nanoseconds())
	_ = unix.SchedSetAttr(thread, attr, 0)
}
