package load

import (
	"math"
	"time"
)

// Instant is a reading of the process's monotonic clock in nanoseconds. All durations of a run are differences of
// Instants, so a step of the wall clock changes none of them.
type Instant int64

// never is later than every reading.
const never Instant = math.MaxInt64

// origin is where Instants count from.
var origin = time.Now()

// Now reads the clock.
func Now() Instant { return Instant(time.Since(origin)) }

// Add returns the instant d later; the result is at most never.
func (i Instant) Add(d time.Duration) Instant {
	if d > 0 && i > never-Instant(d) {
		return never
	}
	return i + Instant(d)
}

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Wall converts an instant to the time of day, by the wall clock at the start of the process.
func (i Instant) Wall() time.Time { return origin.Add(time.Duration(i) + clockError).Round(0) }

// wall reads the wall clock.
func wall() time.Time { return time.Now().Add(clockError) }

// instantOf returns when the wall clock will show t, if the clock is not set meanwhile.
func instantOf(t time.Time) Instant { return Now().Add(t.Sub(wall())) }
