package supervisor

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// IsInMemory reports whether a folder is known to be on a file system in memory.
func IsInMemory(dir string) bool {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return false
	}
	return uint32(fs.Type) == unix.TMPFS_MAGIC || uint32(fs.Type) == unix.RAMFS_MAGIC
}

// AvailableMemory is how many bytes new processes can use (proc_meminfo(5)); known is false if the system does not tell.
func AvailableMemory() (bytes int64, known bool) {
	all, err := os.ReadFile("/proc/meminfo")
	_, rest, found := strings.Cut(string(all), "\nMemAvailable:")
	if err != nil || !found {
		return 0, false
	}
	if _, err := fmt.Sscan(rest, &bytes); err != nil {
		return 0, false
	}
	return bytes << 10, true
}
