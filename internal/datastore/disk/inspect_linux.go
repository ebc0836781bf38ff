package disk

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// inspect returns what the folder lies on, or why nothing may be measured there.
func inspect(dir string, acknowledged bool) (results.Disk, error) {
	refuse := func(format string, args ...any) (results.Disk, error) {
		return results.Disk{}, load.Errorf(results.FailureTargetUnhealthy, format, args...)
	}
	path, err := folder(dir)
	if err != nil {
		return refuse("wanted a folder to write a log into: %w. Name a folder that exists.", err)
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return refuse("the file system of %s is not known: %w", dir, err)
	}
	defer mounts.Close()
	m, err := mountOf(mounts, path)
	if err != nil {
		return refuse("the file system of %s is not known: %w", dir, err)
	}
	if why := refusals[m.fileSystem]; why != "" {
		return refuse("%s is on a file system of type %s, which %s", dir, m.fileSystem, why)
	}
	var space unix.Statfs_t
	if err := unix.Statfs(path, &space); err != nil {
		return refuse("the free space of %s is not known: %w", dir, err)
	}
	if free := space.Bavail * uint64(space.Bsize); free < neededBytes {
		return refuse("wanted %s MB of free space in %s (%s) for the files of the log, found %s MB: free some, or name another folder",
			text.Grouped(int64(neededBytes/1_000_000)), dir, m.device, text.Grouped(int64(free/1_000_000)))
	}
	if found := etcdsBeside(path); len(found) > 0 && !acknowledged {
		return results.Disk{}, load.Errorf(results.FailureControlPlaneTarget, "a running etcd has its files on the disk of %s, or may have: %s. The flushes of this run would delay those of etcd. "+
			"Name a folder on another disk, or set spec.guard.acknowledgeControlPlane if that is acceptable", dir, strings.Join(found, "; "))
	}
	return results.Disk{Device: m.device, FileSystem: m.fileSystem, Options: m.options}, nil
}

// folder returns the absolute path of a folder, without symbolic links.
func folder(dir string) (string, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", &os.PathError{Op: "open", Path: dir, Err: unix.ENOTDIR}
	}
	return filepath.Abs(path)
}
