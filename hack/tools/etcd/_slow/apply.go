package apply

import (
	"os"
	"time"
)

// applyTakes is the extra time for applying a request. It uses no processor, disk or lock.
var applyTakes, _ = time.ParseDuration(os.Getenv("SLOW_APPLY"))

// takeTime is called for each request, sequentially.
func takeTime() { time.Sleep(applyTakes) }
