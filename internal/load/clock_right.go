//go:build !faults

package load

import "time"

// clockError is by how much the wall clock is wrong, as far as this program
// makes it so: not at all.
const clockError time.Duration = 0
