package supervisor

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// ofMember gives a member a group of its own. Linux kills it if the supervisor is killed.
func ofMember() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// IsInMemory reports whether a folder is known to be on a file system in memory.
func IsInMemory(dir string) bool {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return false
	}
	return uint32(fs.Type) == unix.TMPFS_MAGIC || uint32(fs.Type) == unix.RAMFS_MAGIC
}
