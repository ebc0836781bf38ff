package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// etcdsBeside names the processes etcd with an open file on the disk of a path, and those whose files cannot be read. A process
// in a container, such as a client pod, sees only the processes of its own container.
func etcdsBeside(path string) (found []string) {
	own, err := diskOf(path)
	if err != nil {
		return nil
	}
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, name := range names {
		process := filepath.Dir(name)
		if comm, err := os.ReadFile(name); err != nil || strings.TrimSpace(string(comm)) != "etcd" {
			continue
		}
		pid := filepath.Base(process)
		switch on, known := hasFilesOn(process, own); {
		case !known:
			found = append(found, fmt.Sprintf("process %s, whose files this user may not read", pid))
		case on != "":
			found = append(found, fmt.Sprintf("process %s has %s", pid, on))
		}
	}
	return found
}

// hasFilesOn returns an open file of a process on a disk; "" if there is none.
func hasFilesOn(process, disk string) (on string, known bool) {
	files, err := os.ReadDir(filepath.Join(process, "fd"))
	if os.IsNotExist(err) {
		// The process has ended.
		return "", true
	}
	if err != nil {
		return "", false
	}
	for _, f := range files {
		link := filepath.Join(process, "fd", f.Name())
		// Only the files of etcd's data count, not its log or its program.
		target, err := os.Readlink(link)
		if err != nil || !strings.HasSuffix(target, ".wal") && filepath.Base(target) != "db" {
			continue
		}
		if d, err := diskOf(link); err == nil && d == disk {
			return target, true
		}
	}
	return "", true
}

// diskOf identifies the disk of a file: that of a partition is the whole disk. Behind a logical volume it is the volume.
func diskOf(path string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return "", err
	}
	number := fmt.Sprintf("%d:%d", unix.Major(s.Dev), unix.Minor(s.Dev))
	device, err := filepath.EvalSymlinks("/sys/dev/block/" + number)
	if err != nil {
		// A file system without a block device of its own.
		return number, nil
	}
	if _, err := os.Stat(filepath.Join(device, "partition")); err == nil {
		device = filepath.Dir(device)
	}
	return device, nil
}
