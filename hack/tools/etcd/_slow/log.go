// Package fileutil replaces etcd's own in etcd-slow.
package fileutil

import (
	"os"
	"time"
)

// flushTakes is how long a flush of the log takes, on any disk.
var flushTakes, _ = time.ParseDuration(os.Getenv("SLOW_LOG_FLUSH"))

// Fsync is called only for occasional writes, and takes no time.
func Fsync(*os.File) error { return nil }

// Fdatasync flushes the log.
func Fdatasync(*os.File) error {
	time.Sleep(flushTakes)
	return nil
}
