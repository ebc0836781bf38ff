//go:build !unix

package process

// OpenFiles returns how many files the process may open; false if that is not known.
func OpenFiles() (most uint64, known bool) { return 0, false }
