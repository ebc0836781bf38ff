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
	free, volume := space.Bavail*uint64(space.Bsize), space.Blocks*uint64(space.Bsize)
	wanted := neededBytes + reserve(volume, false)
	if free >= wanted {
		if found := etcdsBeside(path); len(found) > 0 {
			if !acknowledged {
				return results.Disk{}, besideEtcd(dir, found)
			}
			wanted = neededBytes + reserve(volume, true)
		}
	}
	if free < wanted {
		return refuse("wanted %s MB of free space in %s (%s), of which the run uses %s MB for the files of the log, found %s MB: free some, or name another folder",
			megabytes(wanted), dir, m.device, megabytes(neededBytes), megabytes(free))
	}
	return results.Disk{Device: m.device, FileSystem: m.fileSystem, Options: m.options}, nil
}

func besideEtcd(dir string, found []string) error {
	return load.Errorf(results.FailureControlPlaneTarget, "a running etcd has its files on the disk of %s, or may have: %s. The flushes of this run would delay those of etcd. "+
		"Name a folder on another disk, or set spec.guard.acknowledgeControlPlane if that is acceptable", dir, strings.Join(found, "; "))
}

// reserve is how much of a volume stays free, so that the run does not fill it for others: a tenth, 256 MB to 1 GB, and twice as
// much beside a running etcd, which cannot go on without space.
func reserve(volume uint64, besideEtcd bool) uint64 {
	const least, most = 256_000_000, 1_000_000_000
	bytes := min(max(volume/10, least), most)
	if besideEtcd {
		bytes *= 2
	}
	return bytes
}

func megabytes(bytes uint64) string { return text.Grouped(int64(bytes / 1_000_000)) }

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
