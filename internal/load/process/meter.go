package process

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Meter measures this process over one interval.
type Meter struct {
	// root is the root of the file system: "/", except in tests.
	root       string
	machine    results.Machine
	start, end reading
}

// NewMeter returns a meter of this process. It reads what stays the same, so that this takes no time in the interval.
func NewMeter() *Meter { return &Meter{root: "/", machine: readMachine("/")} }

// Begin begins the interval. It takes less than a millisecond.
func (m *Meter) Begin() { m.start = read(m.root) }

// End ends the interval.
func (m *Meter) End() { m.end = read(m.root) }

// Window returns the figures of the interval, once it has ended.
func (m *Meter) Window() *results.ProcessWindow {
	w := between(m.start, m.end)
	w.Machine = m.machine
	return w
}

// reading has everything that could be read at one moment.
type reading struct {
	at      time.Time
	threads threads
	group   group
	runtime runtimeReading
	node    node
	// threadsErr and groupErr are the reasons if these could not be read.
	threadsErr, groupErr error
}

func read(root string) reading {
	r := reading{at: time.Now(), runtime: readRuntime(), node: readNode(root)}
	r.threads, r.threadsErr = readThreads(root)
	r.group, r.groupErr = readGroup(root, "self")
	return r
}

// between returns the differences of two readings.
func between(a, b reading) *results.ProcessWindow {
	w := &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{}}
	set := w.Set
	var unknown []string
	set(results.ProcessWindowSeconds, b.at.Sub(a.at).Seconds())
	set(results.ProcessProcessors, float64(runtime.GOMAXPROCS(0)))
	if rose, err := b.ranSince(a); err != nil {
		unknown = append(unknown, fmt.Sprintf("its threads could not be read (%v)", err))
	} else {
		set(results.ProcessCPUSeconds, rose.ran.Seconds())
		set(results.ProcessThreadDelaySeconds, rose.waited.Seconds())
		set(results.ProcessThreadWakeups, float64(rose.timeslices))
	}
	if err := firstOf(a.groupErr, b.groupErr); err != nil {
		unknown = append(unknown, fmt.Sprintf("its control group could not be read (%v)", err))
	} else {
		set(results.ProcessThrottledSeconds, b.group.throttled.since(a.group.throttled).Seconds())
		if b.group.quota > 0 {
			set(results.ProcessQuotaProcessors, b.group.quota)
		}
	}
	set(results.ProcessGoroutineDelaySeconds, b.runtime.delayP99(a.runtime).Seconds())
	delays, wakeups := b.runtime.delays(a.runtime)
	set(results.ProcessGoroutineDelayTotalSeconds, delays.Seconds())
	set(results.ProcessGoroutineWakeups, float64(wakeups))
	if share, known := b.runtime.collectionShare(a.runtime); known {
		set(results.ProcessCollectionRatio, share)
	}
	b.node.since(a.node, b.at.Sub(a.at), set)
	w.Unknown = strings.Join(unknown, "; ")
	return w
}

// errNoTimeslices: a process that reads this file has had a processor, so zeros are false. Linux reports zeros if the
// kernel was built or configured without these counts.
var errNoTimeslices = errors.New("schedstat: wanted a count of timeslices above 0, found 0: this kernel does not count scheduling delays of threads")

func (b reading) ranSince(a reading) (schedule, error) {
	if err := firstOf(a.threadsErr, b.threadsErr); err != nil {
		return schedule{}, err
	}
	rose := b.threads.since(a.threads)
	if rose.timeslices == 0 {
		return schedule{}, errNoTimeslices
	}
	return rose, nil
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
