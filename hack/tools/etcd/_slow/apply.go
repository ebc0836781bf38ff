package apply

import (
	"os"
	"time"
)

// applyTakes is what applying a request takes beside what it is: no processor,
// no disk and no lock.
var applyTakes, _ = time.ParseDuration(os.Getenv("SLOW_APPLY"))

// takeTime is called for each request, one after the other.
func takeTime() { time.Sleep(applyTakes) }
