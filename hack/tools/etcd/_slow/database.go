package bbolt

import (
	"os"
	"time"
)

// flushTakes is how long a flush of the database takes, of which a commit has
// two: the same on any disk.
var flushTakes, _ = time.ParseDuration(os.Getenv("SLOW_DATABASE_FLUSH"))

func fdatasync(*DB) error {
	time.Sleep(flushTakes)
	return nil
}
