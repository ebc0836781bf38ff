package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// etcdsBeside names the processes that have data of an etcd open on the disk of a path, or that may have. It sees only the
// processes of its own container.
func etcdsBeside(path string) (found []string) {
	own, err := diskOf(path)
	if err != nil {
		return []string{fmt.Sprintf("the disk of the folder is not known (%v)", err)}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		on, err := filesOn(process, own)
		// Without the right to read its files, only the name of a process tells that it is an etcd.
		if err != nil && isNamedLikeEtcd(process) {
			on = fmt.Sprintf("files of which the disk is not known (%v)", err)
		}
		if on != "" {
			found = append(found, fmt.Sprintf("process %s has %s", filepath.Base(process), on))
		}
	}
	return found
}

// IsEtcd reports whether a process has data of an etcd open, or the name of one.
func IsEtcd(pid int) bool {
	process := filepath.Join("/proc", strconv.Itoa(pid))
	links, _ := etcdFiles(process)
	return len(links) > 0 || isNamedLikeEtcd(process)
}

// isNamedLikeEtcd reports whether a process has the name of etcd, or of k3s, which runs an etcd inside.
func isNamedLikeEtcd(process string) bool {
	comm, err := os.ReadFile(filepath.Join(process, "comm"))
	name := strings.TrimSpace(string(comm))
	return err == nil && (name == "etcd" || strings.HasPrefix(name, "k3s"))
}

// filesOn returns an open file of etcd's data that a process has on a disk, or of which the disk is not known; "" if there is
// none. Its error is that the process's files cannot be read.
func filesOn(process, disk string) (on string, err error) {
	files, err := etcdFiles(process)
	for link, target := range files {
		switch d, err := diskOf(link); {
		case errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH):
		case err != nil:
			return fmt.Sprintf("%s, of which the disk is not known (%v)", target, err), nil
		case d == disk:
			return target, nil
		}
	}
	return "", err
}

// etcdFiles are the open files of etcd's data that a process has, by link.
func etcdFiles(process string) (map[string]string, error) {
	files, err := os.ReadDir(filepath.Join(process, "fd"))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		// The process has ended.
		return nil, nil
	}
	found := map[string]string{}
	for _, f := range files {
		link := filepath.Join(process, "fd", f.Name())
		if target, err := os.Readlink(link); err == nil && isOfEtcd(target) {
			found[link] = target
		}
	}
	return found, err
}

// segmentOfWAL is the name that etcd gives to files of its log.
var segmentOfWAL = regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{16}\.wal$`)

// isOfEtcd reports whether a path is that of etcd's log or database. Programs that embed etcd use the same names.
func isOfEtcd(path string) bool {
	if strings.Contains(path, "/"+ownFolder) {
		return false
	}
	return segmentOfWAL.MatchString(filepath.Base(path)) || strings.HasSuffix(path, "/member/snap/db")
}

// diskOf identifies the disk of a file: that of a partition is the whole disk. Behind a logical volume it is the volume.
func diskOf(path string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return "", err
	}
	number := fmt.Sprintf("%d:%d", unix.Major(s.Dev), unix.Minor(s.Dev))
	device, err := filepath.EvalSymlinks("/sys/dev/block/" + number)
	if errors.Is(err, os.ErrNotExist) {
		// A file system without a block device of its own.
		return number, nil
	}
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(device, "partition")); err == nil {
		device = filepath.Dir(device)
	}
	return device, nil
}
