//go:build !faults

package load

import "time"

// clockError is an artificial error of the wall clock. It is zero outside tests.
const clockError time.Duration = 0
