package load

import (
	"math"
	"time"
)

// Instant is a reading of the process's monotonic clock in nanoseconds. All
// durations of a run are differences of Instants, so that a step of the wall
// clock changes none.
type Instant int64

// never is later than every reading.
const never Instant = math.MaxInt64

// origin is where Instants count from.
var origin = time.Now()

// Now reads the clock.
func Now() Instant { return Instant(time.Since(origin)) }

// Add returns the instant d later, never at most.
func (i Instant) Add(d time.Duration) Instant {
	if d > 0 && i > never-Instant(d) {
		return never
	}
	return i + Instant(d)
}

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Wall returns the time of day of an instant, as the wall clock stood when the
// process started.
func (i Instant) Wall() time.Time { return origin.Add(time.Duration(i) + clockError).Round(0) }

// wall reads the wall clock.
func wall() time.Time { return time.Now().Add(clockError) }

// instantOf returns when the wall clock will show t, if nobody sets it before.
func instantOf(t time.Time) Instant { return Now().Add(t.Sub(wall())) }
