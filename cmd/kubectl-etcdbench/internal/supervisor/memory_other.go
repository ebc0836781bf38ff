//go:build !linux

package supervisor

// IsInMemory reports whether a folder is known to be on a file system in memory.
func IsInMemory(string) bool { return false }

// AvailableMemory is how many bytes new processes can use; known is false if the system does not tell.
func AvailableMemory() (bytes int64, known bool) { return 0, false }
