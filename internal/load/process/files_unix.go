//go:build unix

package process

import "golang.org/x/sys/unix"

// OpenFiles returns how many files the process may open; false if that is not known.
func OpenFiles() (most uint64, known bool) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, false
	}
	return uint64(limit.Cur), true
}
