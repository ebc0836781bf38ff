package bbolt

import (
	"os"
	"time"
)

// flushTakes is how long a flush of the database takes, on any disk. A commit has two flushes.
var flushTakes, _ = time.ParseDuration(os.Getenv("SLOW_DATABASE_FLUSH"))

func fdatasync(*DB) error {
	time.Sleep(flushTakes)
	return nil
}
