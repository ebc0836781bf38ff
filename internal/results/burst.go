package results

import (
	"fmt"
	"math/bits"
)

// Burst counts what the tasks of a burst did. It is zero for other runs.
type Burst struct {
	// Timeouts counts tasks by the number of attempts that timed out, see TimeoutsFrom.
	Timeouts [TimeoutBuckets]uint64
	// Values are the bytes of the values that were read.
	Values uint64
	// Unavailable counts the tasks with own connections that ended as Unavailable before the first response.
	Unavailable uint64
	// Wire are the bytes on the TCP connections of the load since its start; zero if they were not counted.
	Wire Bodies
}

// TimeoutBuckets is the number of ranges of time-outs per task. Numbers below exactTimeouts have ranges of their own. Each
// later range is twice as long as the one before, and the last has no end.
const (
	TimeoutBuckets = 32
	exactTimeouts  = 16
)

// TimeoutsFrom is the least number of time-outs in a range.
func TimeoutsFrom(bucket int) int {
	if bucket <= exactTimeouts {
		return bucket
	}
	return exactTimeouts << (bucket - exactTimeouts)
}

// Count counts a task with this many time-outs.
func (b *Burst) Count(timeouts int) {
	bucket := timeouts
	if timeouts >= exactTimeouts {
		bucket = min(exactTimeouts+bits.Len(uint(timeouts/exactTimeouts))-1, TimeoutBuckets-1)
	}
	b.Timeouts[bucket]++
}

// Tasks is how many tasks have ended.
func (b *Burst) Tasks() (n uint64) {
	for _, tasks := range b.Timeouts {
		n += tasks
	}
	return n
}

// Add adds the counts of another pod.
func (b *Burst) Add(other *Burst) {
	for i, n := range other.Timeouts {
		b.Timeouts[i] += n
	}
	b.Values += other.Values
	b.Unavailable += other.Unavailable
	b.Wire.add(other.Wire)
}

// check returns an error if counts contradict each other.
func (b *Burst) check() error {
	if tasks := b.Tasks(); b.Unavailable > tasks {
		return fmt.Errorf("wanted at most %d unavailable tasks, as many as there are, found %d", tasks, b.Unavailable)
	}
	return nil
}
