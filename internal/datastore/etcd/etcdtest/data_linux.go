package etcdtest

import "golang.org/x/sys/unix"

const (
	// sharedMemory is where Linux has a file system in memory.
	sharedMemory = "/dev/shm"
	// enoughMemory is room for the logs of a dozen members. Each begins with two files of 64 MB. Containers often have
	// 64 MB in all.
	enoughMemory = 2 << 30
)

// memory returns a folder in memory. It returns an empty string, the folder for temporary files, if there is too little
// room.
func memory() string {
	var fs unix.Statfs_t
	if err := unix.Statfs(sharedMemory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < enoughMemory || unix.Access(sharedMemory, unix.W_OK) != nil {
		return ""
	}
	return sharedMemory
}
