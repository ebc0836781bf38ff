// Package fileutil, as etcd-slow has it in place of etcd's own.
package fileutil

import (
	"os"
	"time"
)

// flushTakes is how long a flush of the log takes: the same on any disk.
var flushTakes, _ = time.ParseDuration(os.Getenv("SLOW_LOG_FLUSH"))

// Fsync is for what is written now and then, and takes no time.
func Fsync(*os.File) error { return nil }

// Fdatasync flushes the log.
func Fdatasync(*os.File) error {
	time.Sleep(flushTakes)
	return nil
}
